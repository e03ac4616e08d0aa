package io.farheap.bench.resilience;

/**
 * The parts of Hydra that EC-Cache is given, each with those before it (Hydra, FAST '22, sections 4.1.1 to 4.1.4 and
 * figure 10). EC-Cache itself has late binding.
 */
enum HydraParts {
    /** It copies and encodes before it posts, and sleeps until splits have come. */
    NONE("ec-cache"),
    /** It polls until the splits have arrived. */
    RUN_TO_COMPLETION("ec-cache+run-to-completion"),
    /** Splits are sent from the page, and splits that are read arrive in the page. */
    IN_PLACE_CODING("ec-cache+in-place-coding"),
    /** Parity is encoded while data splits are under way. */
    ASYNCHRONOUS_ENCODING("ec-cache+asynchronous-encoding");

    /** Name of the kind with these parts. */
    final String kind;

    HydraParts(String kind) {
        this.kind = kind;
    }

    boolean has(HydraParts part) {
        return compareTo(part) >= 0;
    }
}
