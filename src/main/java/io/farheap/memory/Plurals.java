package io.farheap.memory;

/** Counts of things as people read them, for messages. */
public final class Plurals {

    private Plurals() {}

    /**
     * A count and the noun behind it: {@code 1 region}, {@code 2 more regions}, {@code 3 switches}.
     *
     * @param noun in the singular, with what stands before it; its plural is regular
     */
    public static String of(long count, String noun) {
        return count + " " + noun(count, noun);
    }

    /** The noun alone, in the form that follows the count. */
    public static String noun(long count, String noun) {
        if (count == 1) {
            return noun;
        }
        boolean hisses = noun.endsWith("s") || noun.endsWith("x") || noun.endsWith("ch") || noun.endsWith("sh");
        return noun + (hisses ? "es" : "s");
    }
}
