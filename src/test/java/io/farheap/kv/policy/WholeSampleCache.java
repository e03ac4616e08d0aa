package io.farheap.kv.policy;

import io.farheap.kv.replacement.ExpertWeights;
import io.farheap.kv.replacement.VictimChoice;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A cache of a fixed number of objects that asks one policy about all of them if one has to go. */
final class WholeSampleCache {

    private final EvictionPolicy policy;
    private final VictimChoice sample;
    private final ExpertWeights weights = new ExpertWeights(1);
    private final SplittableRandom random = new SplittableRandom(1);
    private final int capacity;
    private final Map<Integer, ObjectMetadata> objects = new LinkedHashMap<>();
    private long now;

    WholeSampleCache(EvictionPolicy policy, int capacity) {
        this.policy = policy;
        this.capacity = capacity;
        sample = new VictimChoice(List.of(policy));
    }

    /** @return whether it was a hit */
    boolean request(int key, int size, double cost) {
        now++;
        ObjectMetadata object = objects.get(key);
        boolean hit = object != null;
        if (object == null) {
            if (objects.size() == capacity) {
                evict();
            }
            object = new ObjectMetadata()
                    .insertTime(now)
                    .lastAccess(now)
                    .size(size)
                    .cost(cost);
            objects.put(key, object);
        }
        policy.update(object.now(now));
        object.frequency(object.frequency() + 1).lastAccess(now);
        return hit;
    }

    private void evict() {
        sample.begin();
        objects.forEach((key, object) -> sample.offer(key, object.now(now)));
        int key = sample.choose(weights, random);
        sample.evicted();
        objects.remove(key);
    }
}
