package io.farheap.bench.kv;

import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.replacement.FrequencyCounterCache;
import io.farheap.kv.replacement.HistoryIds;
import io.farheap.kv.replacement.Replacement;
import io.farheap.kv.replacement.Replacements;
import io.farheap.kv.replacement.SharedWeights;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/**
 * Plays a trace against a model of a map: its table, its history, and clients that take turns, each with weights that
 * it has learned itself, counts that it holds back, and the history counter that it knows from its last eviction. Every
 * miss inserts. Time is one tick for each request; messages take none. No memory is far, so it shows the hit ratios
 * that the design can reach, quickly.
 */
public final class TracePlayer {

    private static final byte EMPTY = 0;
    private static final byte LIVE = 1;
    private static final byte HISTORY = 2;

    /** As in the table: two slots for each object, in buckets. */
    public static final int BUCKET_SLOTS = 16;

    private static final int SLOTS_PER_OBJECT = 2;
    private static final int NONE = -1;
    /** As in a session: a victim may wait for its eviction for its age divided by this. */
    private static final long AGE_PARTS = 32;

    private final int objects;
    private final int buckets;
    private final int sampleBuckets;
    private final byte[] state;
    private final int[] key;
    private final int[] frequency;
    private final long[] inserted;
    private final long[] accessed;
    private final long[] number;
    private final byte[] experts;
    private final long[] extension;
    private final int extensionWords;

    private final Client[] clients;
    private final SharedWeights controller;
    private final ObjectMetadata metadata = new ObjectMetadata();
    private final SplittableRandom random;
    private long counter;
    private int live;
    private long now;

    // Counts.
    private long requests;
    private long hits;
    private long writes;
    private long adds;
    private long samples;
    private long evictions;
    private long crowdedOut;
    private long regrets;
    private long exchanges;

    /**
     * A victim beyond those that were needed when it was found: it is evicted later if its slot has not changed by then
     * and the time {@code until} has not passed.
     */
    private record Find(int slot, int key, long inserted, long experts, long until) {}

    private final class Client {
        final Replacement replacement;
        final FrequencyCounterCache counts;
        final long[] words;
        final ArrayDeque<Find> finds = new ArrayDeque<>();
        long known;

        Client(Replacement replacement, long counterBytes, int threshold) {
            this.replacement = replacement;
            counts = new FrequencyCounterCache(counterBytes, threshold, objects, this::add);
            words = new long[replacement.words()];
        }

        /** If the slot has another object by now, that object gets the count. */
        void add(long hash, long slot, int accesses) {
            frequency[(int) slot] += accesses;
            adds++;
        }
    }

    /**
     * @param objects that may be live at once
     * @param policy as in {@link Replacements}
     * @param sampleSlots that an eviction reads, rounded up to buckets
     * @param counterBytes of each client's counter cache
     * @param threshold of its counts
     */
    public TracePlayer(
            int objects, String policy, int clients, int sampleSlots, long counterBytes, int threshold, long seed) {
        this.objects = objects;
        buckets = Math.max(1, Math.ceilDiv(objects * SLOTS_PER_OBJECT, BUCKET_SLOTS));
        sampleBuckets = Math.min(buckets, Math.ceilDiv(sampleSlots, BUCKET_SLOTS));
        int slots = buckets * BUCKET_SLOTS;
        state = new byte[slots];
        key = new int[slots];
        frequency = new int[slots];
        inserted = new long[slots];
        accessed = new long[slots];
        number = new long[slots];
        experts = new byte[slots];
        random = new SplittableRandom(seed);
        controller = Replacements.controller(policy);
        this.clients = new Client[clients];
        for (int i = 0; i < clients; i++) {
            this.clients[i] =
                    new Client(Replacements.named(policy, objects, random.nextLong()), counterBytes, threshold);
        }
        extensionWords = this.clients[0].replacement.extensionWords();
        extension = new long[slots * extensionWords];
    }

    /** Plays a trace, of which the requests are distributed to the clients in turn. */
    public void play(int[] keys) {
        for (int requested : keys) {
            now++;
            request(clients[(int) (requests++ % clients.length)], requested);
        }
    }

    private void request(Client client, int requested) {
        int bucket = (int) ((mix(requested) >>> 33) * buckets >>> 31) * BUCKET_SLOTS;
        int entry = NONE;
        for (int slot = bucket; slot < bucket + BUCKET_SLOTS; slot++) {
            if (key[slot] == requested && state[slot] == LIVE) {
                hits++;
                hit(client, slot);
                return;
            }
            if (key[slot] == requested && state[slot] == HISTORY) {
                entry = slot;
            }
        }
        boolean returned =
                entry != NONE && client.replacement.missed(client.known, number[entry], experts[entry] & 0xFF);
        if (returned) {
            regrets++;
            exchange(client);
        }
        long before = entry == NONE ? 0 : frequency[entry];
        if (live >= objects) {
            evict(client);
        }
        insert(client, requested, bucket, entry, returned, before);
    }

    private void hit(Client client, int slot) {
        fill(slot);
        int todo = client.replacement.accessed(metadata);
        if ((todo & Replacement.WRITE_TIME) != 0) {
            accessed[slot] = now;
            writes++;
        }
        if ((todo & Replacement.WRITE_EXTENSION) != 0) {
            keepExtension(slot);
            writes++;
        }
        if ((todo & Replacement.COUNT_NOW) != 0) {
            frequency[slot]++;
            adds++;
        } else if ((todo & Replacement.COUNT) != 0) {
            client.counts.add(mix(key[slot]), slot, now);
        }
    }

    private void exchange(Client client) {
        if (client.replacement.due()) {
            client.replacement.send(client.words);
            controller.answer(client.words);
            client.replacement.answered(client.words);
            exchanges++;
        }
    }

    private void insert(Client client, int requested, int bucket, int entry, boolean returned, long before) {
        int place = entry != NONE && state[entry] == HISTORY ? entry : place(client, bucket);
        if (place == NONE) {
            place = crowdOut(client, bucket);
        }
        state[place] = LIVE;
        key[place] = requested;
        metadata.now(now).frequency(before);
        client.replacement.inserted(metadata, returned);
        frequency[place] = (int) metadata.frequency();
        inserted[place] = now;
        accessed[place] = now;
        keepExtension(place);
        live++;
    }

    /** Returns an empty slot of a bucket, or its oldest history entry, or {@link #NONE} if it has only live objects. */
    private int place(Client client, int bucket) {
        int oldest = NONE;
        long most = Long.MIN_VALUE;
        for (int slot = bucket; slot < bucket + BUCKET_SLOTS; slot++) {
            if (state[slot] == EMPTY) {
                return slot;
            }
            if (state[slot] == HISTORY && HistoryIds.age(client.known, number[slot]) > most) {
                most = HistoryIds.age(client.known, number[slot]);
                oldest = slot;
            }
        }
        return oldest;
    }

    private int crowdOut(Client client, int bucket) {
        client.replacement.begin();
        offer(client, bucket, bucket + BUCKET_SLOTS);
        crowdedOut++;
        live--;
        return client.replacement.choose();
    }

    /** Evicts an object: one that the client has found before, or else one of a new sample. */
    private void evict(Client client) {
        while (true) {
            for (Find find = client.finds.poll(); find != null; find = client.finds.poll()) {
                boolean same =
                        state[find.slot] == LIVE && key[find.slot] == find.key && inserted[find.slot] == find.inserted;
                if (same && now <= find.until) {
                    evict(client, find.slot, find.experts);
                    return;
                }
            }
            int first = random.nextInt(buckets);
            int last = Math.min(buckets, first + sampleBuckets);
            client.replacement.begin();
            offer(client, first * BUCKET_SLOTS, last * BUCKET_SLOTS);
            // A sample that exceeds the table's end continues at its beginning, so that all buckets are equally likely.
            offer(client, 0, (first + sampleBuckets - last) * BUCKET_SLOTS);
            samples++;
            for (int slot = client.replacement.choose(); slot != NONE; slot = client.replacement.choose()) {
                long until = now + (now - accessed[slot]) / AGE_PARTS;
                client.finds.add(new Find(slot, key[slot], inserted[slot], client.replacement.experts(), until));
            }
        }
    }

    private void evict(Client client, int victim, long namedBy) {
        state[victim] = HISTORY;
        number[victim] = counter;
        experts[victim] = (byte) namedBy;
        counter = HistoryIds.plus(counter, 1);
        live--;
        evictions++;
        client.known = counter;
    }

    private void offer(Client client, int from, int to) {
        for (int slot = from; slot < to; slot++) {
            if (state[slot] == LIVE) {
                fill(slot);
                client.replacement.offer(slot, metadata);
            } else if (state[slot] == HISTORY) {
                client.replacement.offerHistory(client.known, number[slot], experts[slot] & 0xFF);
            }
        }
    }

    private void fill(int slot) {
        metadata.insertTime(inserted[slot])
                .lastAccess(accessed[slot])
                .frequency(frequency[slot])
                .now(now);
        for (int word = 0; word < extensionWords; word++) {
            metadata.extension(word, extension[slot * extensionWords + word]);
        }
    }

    private void keepExtension(int slot) {
        for (int word = 0; word < extensionWords; word++) {
            extension[slot * extensionWords + word] = metadata.extension(word);
        }
    }

    private static long mix(int requested) {
        long mixed = (requested + 1L) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
        return mixed ^ mixed >>> 32;
    }

    public long requests() {
        return requests;
    }

    public long hits() {
        return hits;
    }

    /** Returns hits as a percentage of the requests. */
    public double hitPercent() {
        return requests == 0 ? 0 : 100.0 * hits / requests;
    }

    /** Returns WRITEs of access times and extensions. */
    public long writes() {
        return writes;
    }

    /** Returns fetch-and-adds of counts. */
    public long adds() {
        return adds;
    }

    /** Returns READs of samples. */
    public long samples() {
        return samples;
    }

    public long evictions() {
        return evictions;
    }

    /** Returns how many objects were removed because their bucket was full. */
    public long crowdedOut() {
        return crowdedOut;
    }

    /** Returns how many requests missed an object that was still in the history, so that experts were penalized. */
    public long regrets() {
        return regrets;
    }

    /** Returns calls of the controller. */
    public long exchanges() {
        return exchanges;
    }
}
