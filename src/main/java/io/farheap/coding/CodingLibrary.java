package io.farheap.coding;

import java.lang.foreign.Arena;

/** What multiplies in this process: chosen by {@code -Dfarheap.coding}, by default ISA-L where the machine has it. */
public enum CodingLibrary {
    ISAL,
    JAVA;

    private static final String PROPERTY = "farheap.coding";

    /**
     * The one that new coders use.
     *
     * @throws IllegalArgumentException where the property names none, or one that this machine has not
     */
    public static CodingLibrary chosen() {
        String name = System.getProperty(PROPERTY, "auto");
        return switch (name) {
            case "auto" -> IsalKernel.available() ? ISAL : JAVA;
            case "java" -> JAVA;
            case "isal" -> {
                if (!IsalKernel.available()) {
                    throw new IllegalArgumentException(
                            "this machine has no ISA-L; install it, on Debian with: sudo apt-get install libisal2");
                }
                yield ISAL;
            }
            default -> throw new IllegalArgumentException("-D" + PROPERTY + "=" + name + "; it is auto, isal or java");
        };
    }

    /** Whether the machine has it. */
    public boolean available() {
        return this == JAVA || IsalKernel.available();
    }

    Kernel kernel(Arena arena) {
        return this == ISAL ? new IsalKernel(arena) : new JavaKernel();
    }

    /** As documents call it. */
    @Override
    public String toString() {
        return this == ISAL ? "ISA-L" : "Java";
    }
}
