package io.farheap.bench.kv;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The hit ratios of other policies on one trace at one size.
 *
 * @param hits in per cent, by the policy's name, in the order of the file
 */
record ReferencePoint(String trace, long objects, Map<String, Double> hits) {

    /** A policy and its hits, in per cent. */
    record PolicyHits(String policy, double percent) {}

    /** Names of policies that know the requests to come: no cache can be built with them. */
    private static final String[] CLAIRVOYANT = {"belady", "clairvoyant"};

    /** Returns the best policy that can be built, the first one of equals; null if there is none. */
    @Nullable
    PolicyHits best() {
        return best(hits, policy -> !clairvoyant(policy));
    }

    /** Returns the best that any policy could do; null if no clairvoyant policy was measured. */
    @Nullable
    PolicyHits bound() {
        return best(hits, ReferencePoint::clairvoyant);
    }

    /** Returns the wanted policy with the most hits, the first one of equals; null if there is none. */
    static @Nullable PolicyHits best(Map<String, Double> hits, Predicate<String> wanted) {
        PolicyHits best = null;
        for (Map.Entry<String, Double> entry : hits.entrySet()) {
            if (wanted.test(entry.getKey()) && (best == null || entry.getValue() > best.percent())) {
                best = new PolicyHits(entry.getKey(), entry.getValue());
            }
        }
        return best;
    }

    static boolean clairvoyant(String policy) {
        String name = policy.toLowerCase(Locale.ROOT);
        for (String word : CLAIRVOYANT) {
            if (name.contains(word)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the means over points, of the policies that all of them have. */
    static Map<String, Double> means(Iterable<ReferencePoint> points) {
        Map<String, Double> sums = new LinkedHashMap<>();
        int count = 0;
        for (ReferencePoint point : points) {
            if (count++ == 0) {
                sums.putAll(point.hits);
                continue;
            }
            sums.keySet().retainAll(point.hits.keySet());
            sums.replaceAll((policy, sum) -> sum + point.hits.getOrDefault(policy, 0.0));
        }
        int all = count;
        sums.replaceAll((policy, sum) -> sum / all);
        return sums;
    }
}
