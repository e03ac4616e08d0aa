package io.farheap.kv.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Textbook versions of the policies. An object has the times of all its accesses since its insertion, and a cache has
 * one scale of values for all objects. Of equal objects, the one that was accessed the longest ago goes.
 */
abstract class ExactCache {

    static final class Item {
        final int size;
        final double cost;
        final List<Long> accesses = new ArrayList<>();
        double stored;

        Item(int size, double cost) {
            this.size = size;
            this.cost = cost;
        }

        long first() {
            return accesses.getFirst();
        }

        /** @return the time of the n-th last access; 1 is the last one */
        long last(int n) {
            return accesses.get(accesses.size() - n);
        }
    }

    private final int capacity;
    private final Map<Integer, Item> items = new HashMap<>();
    private long now;

    ExactCache(int capacity) {
        this.capacity = capacity;
    }

    final boolean request(int key, int size, double cost) {
        now++;
        boolean hit = items.containsKey(key);
        if (!hit && items.size() == capacity) {
            Comparator<Integer> order = (a, b) -> compare(items.get(a), items.get(b), now);
            int goes = items.keySet().stream()
                    .min(order.thenComparing(other -> items.get(other).last(1)))
                    .orElseThrow();
            gone(items.remove(goes));
        }
        Item item = items.computeIfAbsent(key, absent -> new Item(size, cost));
        item.accesses.add(now);
        accessed(item);
        return hit;
    }

    /** @return negative if the first object goes before the second */
    abstract int compare(Item a, Item b, long now);

    void accessed(Item item) {}

    void gone(Item item) {}

    /** The exact version of a policy. */
    static ExactCache of(String policy, int capacity) {
        return switch (policy) {
            case "lru" -> by(capacity, Comparator.comparing(item -> item.last(1)));
            case "mru" ->
                by(
                        capacity,
                        Comparator.<Item, Long>comparing(item -> item.last(1)).reversed());
            case "fifo" -> by(capacity, Comparator.comparing(Item::first));
            case "lfu" -> by(capacity, Comparator.comparing(item -> item.accesses.size()));
            case "size" ->
                by(
                        capacity,
                        Comparator.<Item, Integer>comparing(item -> item.size).reversed());
            case "lru-k" ->
                by(capacity, Comparator.comparing(item -> item.accesses.size() < 2 ? item.first() : item.last(2)));
            case "hyperbolic" -> new Hyperbolic(capacity);
            case "lirs" -> new Lirs(capacity);
            case "lrfu" -> new Lrfu(capacity);
            case "gds" -> new Aged(capacity, false, true);
            case "gdsf" -> new Aged(capacity, true, true);
            case "lfuda" -> new Aged(capacity, true, false);
            default -> throw new IllegalArgumentException(policy);
        };
    }

    private static ExactCache by(int capacity, Comparator<Item> order) {
        return new ExactCache(capacity) {
            @Override
            int compare(Item a, Item b, long now) {
                return order.compare(a, b);
            }
        };
    }

    /** The accesses per tick and per unit of size, compared without division. */
    private static final class Hyperbolic extends ExactCache {

        Hyperbolic(int capacity) {
            super(capacity);
        }

        @Override
        int compare(Item a, Item b, long now) {
            long left = a.accesses.size() * Math.max(1, now - b.first()) * b.size;
            long right = b.accesses.size() * Math.max(1, now - a.first()) * a.size;
            return Long.compare(left, right);
        }
    }

    private static final class Lirs extends ExactCache {

        Lirs(int capacity) {
            super(capacity);
        }

        @Override
        int compare(Item a, Item b, long now) {
            boolean once = a.accesses.size() == 1;
            if (once != (b.accesses.size() == 1)) {
                return once ? -1 : 1;
            }
            return Long.compare(distance(b, now), distance(a, now));
        }

        private static long distance(Item item, long now) {
            long recency = now - item.last(1);
            return item.accesses.size() == 1 ? recency : Math.max(recency, item.last(1) - item.last(2));
        }
    }

    /** The sum over all accesses, as in the policy's definition. */
    private static final class Lrfu extends ExactCache {

        private static final double HALF_LIFE = 64;

        Lrfu(int capacity) {
            super(capacity);
        }

        @Override
        int compare(Item a, Item b, long now) {
            return Double.compare(sum(a, now), sum(b, now));
        }

        private static double sum(Item item, long now) {
            return item.accesses.stream()
                    .mapToDouble(time -> Math.pow(0.5, (now - time) / HALF_LIFE))
                    .sum();
        }
    }

    /** GDS, GDSF and LFUDA: the cache has one age, the value of the object that went last. */
    private static final class Aged extends ExactCache {

        private final boolean counts;
        private final boolean costs;
        private double age;

        Aged(int capacity, boolean counts, boolean costs) {
            super(capacity);
            this.counts = counts;
            this.costs = costs;
        }

        @Override
        int compare(Item a, Item b, long now) {
            return Double.compare(a.stored, b.stored);
        }

        @Override
        void accessed(Item item) {
            double worth = (counts ? item.accesses.size() : 1) * (costs ? item.cost / item.size : 1);
            item.stored = age + worth;
        }

        @Override
        void gone(Item item) {
            age = item.stored;
        }
    }
}
