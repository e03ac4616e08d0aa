package io.farheap.kv.replacement;

import io.farheap.kv.policy.EvictionPolicy;
import io.farheap.kv.policy.Policies;
import java.util.List;
import java.util.stream.Stream;

/** Ways to choose who stays, by name: of a map, so that all its sessions and its controller agree. */
public final class Replacements {

    /** What maps use unless told otherwise: {@link BalancedReplacement}. */
    public static final String ADAPTIVE = "adaptive";

    /** The paper's: experts LRU and LFU. */
    public static final String PAPER = "paper";

    private static final String PAPER_EXPERTS = "lru,lfu";

    private Replacements() {}

    /**
     * For one session of a map.
     *
     * @param name {@link #ADAPTIVE}, {@link #PAPER}, or {@link Policies} separated by commas, which are the experts
     * @param objects that the map is to hold
     * @param seed of what is left to chance; each session's own
     * @throws IllegalArgumentException where a policy is unknown, or they are too many
     */
    public static Replacement named(String name, long objects, long seed) {
        return name.equals(ADAPTIVE)
                ? new BalancedReplacement(objects)
                : new ExpertReplacement(experts(name), objects, seed);
    }

    /** For the server that keeps what the sessions of a map have learned; otherwise as {@link #named}. */
    public static SharedWeights controller(String name) {
        return name.equals(ADAPTIVE)
                ? new ControllerShare()
                : new ControllerWeights(experts(name).size());
    }

    /** What weights are called, in their order. */
    public static List<String> expertNames(String name) {
        return name.equals(ADAPTIVE)
                ? List.of("once", "again")
                : List.of(expertList(name).split(","));
    }

    private static List<EvictionPolicy> experts(String name) {
        return Stream.of(expertList(name).split(",", -1))
                .map(String::strip)
                .map(Policies::named)
                .toList();
    }

    private static String expertList(String name) {
        return name.equals(PAPER) ? PAPER_EXPERTS : name;
    }
}
