package io.farheap.kv.replacement;

import io.farheap.kv.policy.EvictionPolicy;
import io.farheap.kv.policy.Policies;
import java.util.List;
import java.util.stream.Stream;

/** Replacements by name. The name belongs to the map, so that all its sessions and its controller agree. */
public final class Replacements {

    /** The default of maps: {@link BalancedReplacement}. */
    public static final String ADAPTIVE = "adaptive";

    /** The paper's replacement, with LRU and LFU as experts. */
    public static final String PAPER = "paper";

    private static final String PAPER_EXPERTS = "lru,lfu";

    private Replacements() {}

    /**
     * Makes a replacement for one session of a map.
     *
     * @param name {@link #ADAPTIVE}, {@link #PAPER}, or {@link Policies} separated by commas, which are the experts
     * @param objects the number of objects that the map should hold
     * @param seed of random choices; each session has its own
     * @throws IllegalArgumentException if a policy is unknown, or there are too many
     */
    public static Replacement named(String name, long objects, long seed) {
        return name.equals(ADAPTIVE)
                ? new BalancedReplacement(objects)
                : new ExpertReplacement(experts(name), objects, seed);
    }

    /** Makes the state for the server that combines what the sessions of a map learn; otherwise as {@link #named}. */
    public static SharedWeights controller(String name) {
        return name.equals(ADAPTIVE)
                ? new ControllerShare()
                : new ControllerWeights(experts(name).size());
    }

    /** The names of the weights, in their order. */
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
