package io.farheap.kv.replacement;

import io.farheap.kv.policy.ObjectMetadata;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** A small map: slots of objects and of history entries side by side, sampled by clients that take turns. */
final class SampledCache {

    private static final int SAMPLE = 256;

    private final int objects;
    private final ObjectMetadata[] slots;
    private final int[] keys;
    private final long[] numbers;
    private final long[] experts;
    private final boolean[] live;
    private final Map<Integer, Integer> places = new HashMap<>();
    private final Replacement[] clients;
    private final SharedWeights controller;
    private final long[] words;
    private final SplittableRandom random;
    /** The number of the next history entry, which wraps after the first 1000. */
    private long counter = (1L << 48) - 1000;

    private int liveCount;
    private int fresh;
    private long now;
    private long exchanges;

    SampledCache(String policy, int objects, int clients, long seed) {
        this.objects = objects;
        random = new SplittableRandom(seed);
        slots = new ObjectMetadata[2 * objects];
        keys = new int[slots.length];
        numbers = new long[slots.length];
        experts = new long[slots.length];
        live = new boolean[slots.length];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new ObjectMetadata();
        }
        this.clients = new Replacement[clients];
        for (int i = 0; i < clients; i++) {
            this.clients[i] = Replacements.named(policy, objects, seed + i);
        }
        controller = Replacements.controller(policy);
        words = new long[controller.words()];
    }

    /** How often clients have asked the controller. */
    long exchanges() {
        return exchanges;
    }

    double weight(int expert) {
        return clients[0].weight(expert);
    }

    /** @return whether it was a hit */
    boolean request(int key) {
        Replacement client = clients[(int) (now++ % clients.length)];
        Integer place = places.get(key);
        if (place != null && live[place]) {
            hit(client, slots[place].now(now));
            return true;
        }
        boolean returned = place != null && client.missed(counter, numbers[place], experts[place]);
        exchange(client);
        if (liveCount == objects) {
            evict(client);
        }
        int slot = place != null ? place : freeSlot();
        if (place == null) {
            places.remove(keys[slot], slot);
            places.put(key, slot);
        }
        keys[slot] = key;
        live[slot] = true;
        liveCount++;
        client.inserted(slots[slot].now(now), returned);
        return false;
    }

    private void hit(Replacement client, ObjectMetadata object) {
        int todo = client.accessed(object);
        if ((todo & Replacement.WRITE_TIME) != 0) {
            object.lastAccess(now);
        }
        if ((todo & (Replacement.COUNT | Replacement.COUNT_NOW)) != 0) {
            object.frequency(object.frequency() + 1);
        }
    }

    private void exchange(Replacement client) {
        if (client.due()) {
            client.send(words);
            controller.answer(words);
            client.answered(words);
            exchanges++;
        }
    }

    private int freeSlot() {
        if (fresh < slots.length) {
            return fresh++;
        }
        int slot = random.nextInt(slots.length);
        while (live[slot]) {
            slot = random.nextInt(slots.length);
        }
        return slot;
    }

    private void evict(Replacement client) {
        int victim = Replacement.NONE;
        while (victim == Replacement.NONE) {
            client.begin();
            int first = random.nextInt(slots.length);
            for (int i = 0; i < Math.min(SAMPLE, fresh); i++) {
                int slot = (first + i) % slots.length;
                if (live[slot]) {
                    client.offer(slot, slots[slot].now(now));
                } else if (slot < fresh) {
                    client.offerHistory(counter, numbers[slot], experts[slot]);
                }
            }
            victim = client.choose();
        }
        while (victim != Replacement.NONE) {
            live[victim] = false;
            liveCount--;
            numbers[victim] = counter;
            experts[victim] = client.experts();
            counter = HistoryIds.plus(counter, 1);
            victim = client.choose();
        }
    }
}
