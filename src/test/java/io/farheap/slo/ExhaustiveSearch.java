package io.farheap.slo;

import java.util.Optional;

/**
 * Looks at every configuration in the order of {@link Configuration#CHEAPEST_FIRST}: slow, and right by its simplicity.
 * The other searches' oracle.
 */
public final class ExhaustiveSearch implements Search {

    public ExhaustiveSearch() {}

    @Override
    public SearchResult find(PerformanceModel model, Slo slo) {
        Search.check(model, slo);
        ConfigurationSpace space = model.space();
        long examined = 0;
        for (int s = 0; s <= space.serverCores(); s++) {
            for (int c = Math.max(1, s); c <= space.clientCores(); c++) {
                for (int b = 1; b <= (s == 0 ? 1 : space.maxBatch()); b++) {
                    for (int q = space.minDepth(); q <= space.maxDepth(); q++) {
                        examined++;
                        Configuration configuration = new Configuration(c, s, b, q);
                        Optional<Performance> predicted = model.predict(configuration);
                        if (predicted.isPresent() && slo.metBy(predicted.get())) {
                            return new SearchResult(configuration, predicted.get(), examined);
                        }
                    }
                }
            }
        }
        return SearchResult.none(examined);
    }
}
