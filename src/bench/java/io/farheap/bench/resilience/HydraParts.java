package io.farheap.bench.resilience;

/**
 * What EC-Cache is given of Hydra, each with those before it (Hydra, FAST '22, sections 4.1.1 to 4.1.4 and figure 10).
 * Late binding it has.
 */
enum HydraParts {
    /** It copies and encodes before it posts, and sleeps until splits have come. */
    NONE("ec-cache"),
    /** It polls until they have. */
    RUN_TO_COMPLETION("ec-cache+run-to-completion"),
    /** Splits are sent from the page, and the page that is read is where they land. */
    IN_PLACE_CODING("ec-cache+in-place-coding"),
    /** Parity is made while data splits fly. */
    ASYNCHRONOUS_ENCODING("ec-cache+asynchronous-encoding");

    /** Of the kind that has them. */
    final String kind;

    HydraParts(String kind) {
        this.kind = kind;
    }

    boolean has(HydraParts part) {
        return compareTo(part) >= 0;
    }
}
