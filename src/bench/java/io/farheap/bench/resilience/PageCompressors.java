package io.farheap.bench.resilience;

import java.util.Optional;
import java.util.ServiceLoader;

/** The compressor that is a service, if its library is there. */
final class PageCompressors {

    private PageCompressors() {}

    static Optional<PageCompressorProvider> provided() {
        return ServiceLoader.load(PageCompressorProvider.class).findFirst();
    }
}
