package io.farheap.coding;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The library that multiplies in this process: chosen by {@code -Dfarheap.coding}, by default the first of these that
 * is available. All produce the same bytes.
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
     * The library that new coders use.
     *
     * @throws IllegalArgumentException if the property names none, or one that this process does not have
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

    /** As {@link #chosen}. If the property is not set and a faster library is missing, logs once how to get it. */
    static CodingLibrary chosenWithNotice() {
        CodingLibrary library = chosen();
        if (library != ISAL && System.getProperty(PROPERTY) == null && NOTICED.compareAndSet(false, true)) {
            LOG.log(System.Logger.Level.WARNING, library.slower());
        }
        return library;
    }

    /** The log message for a process that uses this library instead of ISA-L. */
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

    /**
     * Checks that this process has this library.
     *
     * @throws IllegalArgumentException if not, with the remedy
     */
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

    /** The name that documents use. */
    @Override
    public String toString() {
        return name;
    }
}
