package io.farheap.procedure.translate;

/** Makes {@link TranslatedCode} of users' classes. Stateless; any thread. */
public final class Translator {

    private Translator() {}

    /**
     * @param classBytes of the class file, at most
     * @param translatedBytes of each method that is written, at most: HotSpot compiles none above 8,000
     */
    public record Limits(int classBytes, int translatedBytes) {

        public static final Limits DEFAULT = new Limits(64 << 10, 8000);
    }

    /**
     * Reads, verifies and translates a class.
     *
     * @param classFile any bytes: they are trusted in nothing
     * @throws RefusedProcedureException where it is not in the subset, or above a limit
     */
    public static Translation translate(byte[] classFile, Limits limits) {
        throw new UnsupportedOperationException("not yet");
    }
}
