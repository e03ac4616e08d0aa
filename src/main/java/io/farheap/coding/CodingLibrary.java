package io.farheap.coding;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What multiplies in this process: chosen by {@code -Dfarheap.coding}, by default the first of these that there is. All
 * make the same bytes.
 */
public enum CodingLibrary {
    /** The machine's libisal. */
    ISAL("ISA-L"),
    /** Java with vectors, in a JVM that was started with {@code --add-modules jdk.incubator.vector}. */
    VECTOR("Java with vectors"),
    /** Java that runs everywhere. */
    JAVA("portable Java");

    private static final String PROPERTY = "farheap.coding";
    private static final String VECTOR_MODULE = "jdk.incubator.vector";
    private static final System.Logger LOG = System.getLogger(CodingLibrary.class.getName());
    private static final AtomicBoolean NOTICED = new AtomicBoolean();

    private final String name;

    CodingLibrary(String name) {
        this.name = name;
    }

    /**
     * The one that new coders use.
     *
     * @throws IllegalArgumentException where the property names none, or one that this process has not
     */
    public static CodingLibrary chosen() {
        String wish = System.getProperty(PROPERTY, "auto");
        CodingLibrary library =
                switch (wish) {
                    case "auto" -> ISAL.available() ? ISAL : VECTOR.available() ? VECTOR : JAVA;
                    case "isal" -> ISAL;
                    case "vector" -> VECTOR;
                    case "java" -> JAVA;
                    default ->
                        throw new IllegalArgumentException(
                                "-D" + PROPERTY + "=" + wish + "; it is auto, isal, vector or java");
                };
        library.require();
        return library;
    }

    /**
     * As {@link #chosen}; where nobody chose and a faster one is not there, the log says so once, and how to have it.
     */
    static CodingLibrary chosenWithNotice() {
        CodingLibrary library = chosen();
        if (library != ISAL && System.getProperty(PROPERTY) == null && NOTICED.compareAndSet(false, true)) {
            LOG.log(System.Logger.Level.WARNING, library.slower());
        }
        return library;
    }

    /** What one who codes with this one, and not with ISA-L, should know. */
    String slower() {
        String advice = "coded caches use " + this + ", as there is no ISA-L, which is faster; " + ISAL.remedy();
        return this == JAVA ? advice + "; or " + VECTOR.remedy() : advice;
    }

    /** Whether this process has it. */
    public boolean available() {
        return switch (this) {
            case ISAL -> IsalKernel.available();
            case VECTOR -> ModuleLayer.boot().findModule(VECTOR_MODULE).isPresent();
            case JAVA -> true;
        };
    }

    /** How to have it, as half a sentence. */
    public String remedy() {
        return switch (this) {
            case ISAL -> "install it, on Debian with: sudo apt-get install libisal2";
            case VECTOR -> "start the JVM with --add-modules " + VECTOR_MODULE;
            case JAVA -> "it is always there";
        };
    }

    /** @throws IllegalArgumentException where this process has not this one, with the remedy */
    void require() {
        if (!available()) {
            throw new IllegalArgumentException("this process has no " + this + " for coding; " + remedy());
        }
    }

    Kernel kernel(Arena arena) {
        return switch (this) {
            case ISAL -> new IsalKernel(arena);
            case VECTOR -> new VectorKernel();
            case JAVA -> new JavaKernel();
        };
    }

    /** As documents call it. */
    @Override
    public String toString() {
        return name;
    }
}
