package io.farheap.kv.leased.server;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardTotals;
import io.farheap.server.contract.ServedSpace;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/** The leased maps of a server, and the threads that carry out their calls. Thread-safe. */
final class ServedMaps {

    /** By space; empty if it is no leased map. Replaced, so that a look allocates nothing. */
    private volatile Long2ObjectHashMap<Optional<ServedShards>> maps = new Long2ObjectHashMap<>();
    /** Those that are leased maps: the other one's iterators are not for several threads. */
    private volatile List<ServedShards> leased = List.of();

    private final List<ShardOwner> threads = new CopyOnWriteArrayList<>();
    private final AtomicInteger releases = new AtomicInteger();
    private final Runnable onMap;

    /** @param onMap called on a server thread when a map is used for the first time */
    ServedMaps(Runnable onMap) {
        this.onMap = onMap;
    }

    /**
     * The shards that a space has here, or null if it is no leased map, or one that clients can write. Any server
     * thread.
     */
    @Nullable
    ServedShards shards(ServedSpace space) {
        Optional<ServedShards> known = maps.get(space.id());
        return (known != null ? known : add(space)).orElse(null);
    }

    private synchronized Optional<ServedShards> add(ServedSpace space) {
        Optional<ServedShards> known = maps.get(space.id());
        if (known == null) {
            known = made(space);
            var more = new Long2ObjectHashMap<>(maps);
            more.put(space.id(), known);
            maps = more;
            leased = leased(more);
        }
        return known;
    }

    private Optional<ServedShards> made(ServedSpace space) {
        if (!space.readOnly()) {
            // A shard's thread follows what its memory says, so no client may write there.
            return Optional.empty();
        }
        try {
            LeasedDescriptor map = LeasedDescriptor.decode(space.descriptor(), space.name());
            if (map.regionBytes() != space.regionBytes() || !map.joined() && map.regionsOfEach() > space.regions()) {
                return Optional.empty();
            }
            ServedShards made = new ServedShards(space, map, System::nanoTime);
            List<ShardOwner> now = List.copyOf(threads);
            for (int index = 0; index < made.count() && !now.isEmpty(); index++) {
                made.give(index, null, now.get(index % now.size()));
            }
            onMap.run();
            return Optional.of(made);
        } catch (MapException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** A process has ended, or has the space open no more. */
    void ended(long space, long lease) {
        Optional<ServedShards> map = maps.get(space);
        if (map != null) {
            map.ifPresent(shards -> shards.ended(lease));
        }
    }

    /** A space has ended. */
    synchronized void ended(long space) {
        var fewer = new Long2ObjectHashMap<>(maps);
        fewer.remove(space);
        maps = fewer;
        leased = leased(fewer);
    }

    private static List<ServedShards> leased(Long2ObjectHashMap<Optional<ServedShards>> of) {
        return of.values().stream().flatMap(Optional::stream).toList();
    }

    void add(ShardOwner thread) {
        threads.add(thread);
    }

    /** Shards of a map have lost keys: their threads drop these. Any thread. */
    void released() {
        releases.incrementAndGet();
        threads.forEach(ShardOwner::look);
    }

    /** How often shards have lost keys. */
    int releases() {
        return releases.get();
    }

    /** The shards that all maps have here. */
    List<ServedShards> all() {
        return leased;
    }

    void remove(ShardOwner thread) {
        threads.remove(thread);
    }

    /** How many threads there are. */
    int threads() {
        return threads.size();
    }

    /** A thread that lives, or null. */
    @Nullable
    ShardOwner anyThread() {
        return threads.stream().filter(each -> !each.hasEnded()).findFirst().orElse(null);
    }

    /** Gives a thread's shards to the threads that should have them, so that all have about as many. */
    void giveAway(ShardOwner from) {
        List<ShardOwner> now = List.copyOf(threads);
        if (now.isEmpty()) {
            return;
        }
        for (ServedShards each : leased) {
            giveAway(each, from, now);
        }
    }

    private static void giveAway(ServedShards map, ShardOwner from, List<ShardOwner> to) {
        for (int index = 0; index < map.count(); index++) {
            ShardOwner home = to.get(index % to.size());
            if (map.owner(index) == from && home != from && !home.hasEnded()) {
                map.give(index, from, home);
            }
        }
    }

    /** What all shards hold and have done. */
    ShardTotals totals() {
        ShardTotals sum = ShardTotals.of(new long[ShardTotals.WORDS]);
        for (ServedShards each : leased) {
            sum = sum.plus(each.totals());
        }
        return sum;
    }
}
