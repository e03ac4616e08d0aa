package io.farheap.kv.policy;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;

/** The policies by name. */
public final class Policies {

    private static final long NO_NUMBER = 0;
    private static final long LRFU_HALF_LIFE = 1 << 20;
    private static final int LRU_K_ACCESSES = 2;

    private static final Map<String, LongFunction<EvictionPolicy>> PLAIN = new TreeMap<>(Map.ofEntries(
            Map.entry("lru", number -> new Lru()),
            Map.entry("lfu", number -> new Lfu()),
            Map.entry("mru", number -> new Mru()),
            Map.entry("fifo", number -> new Fifo()),
            Map.entry("size", number -> new Size()),
            Map.entry("hyperbolic", number -> new Hyperbolic()),
            Map.entry("lirs", number -> new Lirs()),
            Map.entry("gds", number -> new Gds()),
            Map.entry("gdsf", number -> new Gdsf()),
            Map.entry("lfuda", number -> new Lfuda()),
            Map.entry("lrfu", Policies::lrfu),
            Map.entry("lru-k", Policies::lruK)));
    /** The policies that take a number. */
    private static final List<String> NUMBERED = List.of("lrfu", "lru-k");

    private Policies() {}

    /** The names that {@link #named} knows. */
    public static List<String> names() {
        return List.copyOf(PLAIN.keySet());
    }

    /**
     * Makes a policy, for one session.
     *
     * @param name one of {@link #names}, in any case; {@code lrfu:} may be followed by its half life in ticks,
     *     {@code lru-k:} by its K
     * @throws IllegalArgumentException if there is none of that name, or its number is out of range
     */
    public static EvictionPolicy named(String name) {
        String[] parts = name.toLowerCase(Locale.ROOT).split(":", 2);
        LongFunction<EvictionPolicy> maker = PLAIN.get(parts[0]);
        if (maker == null) {
            throw new IllegalArgumentException(
                    "no policy is named \"" + name + "\"; there are " + String.join(", ", PLAIN.keySet()));
        }
        return maker.apply(parts.length == 1 ? NO_NUMBER : number(name, parts[0], parts[1]));
    }

    private static long number(String name, String policy, String number) {
        if (!NUMBERED.contains(policy)) {
            throw new IllegalArgumentException("policy \"" + name + "\": " + policy + " takes no number; only "
                    + String.join(" and ", NUMBERED) + " do");
        }
        if (!number.matches("[0-9]{1,18}") || Long.parseLong(number) == NO_NUMBER) {
            throw new IllegalArgumentException(
                    "policy \"" + name + "\": \"" + number + "\" is no whole number from 1 on");
        }
        return Long.parseLong(number);
    }

    private static EvictionPolicy lrfu(long halfLife) {
        return new Lrfu(halfLife == NO_NUMBER ? LRFU_HALF_LIFE : halfLife);
    }

    private static EvictionPolicy lruK(long accesses) {
        long k = accesses == NO_NUMBER ? LRU_K_ACCESSES : accesses;
        if (k < 2 || k > LruK.MOST) {
            throw new IllegalArgumentException("lru-k with K of " + k + "; K is 2 to " + LruK.MOST);
        }
        return new LruK((int) k);
    }
}
