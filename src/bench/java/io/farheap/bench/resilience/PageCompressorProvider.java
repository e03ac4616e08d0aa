package io.farheap.bench.resilience;

/** Opens a compressor that needs a library of its own; a service. */
@FunctionalInterface
public interface PageCompressorProvider {

    /** Opens one for one thread. */
    PageCompressor open();
}
