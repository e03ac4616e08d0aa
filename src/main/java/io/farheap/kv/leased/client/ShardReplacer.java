package io.farheap.kv.leased.client;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.keeper.KnownEditions;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.remote.RemoteSpace;
import io.farheap.thread.Uninterruptibles;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Finds the edition of a leased map for a process that opens it: which servers have its shards, and which shard has
 * which keys. If there is none without the servers that do not answer, it makes the next, by which these leave and the
 * shards of others have their keys, of which none is there; if the servers agree. One thread.
 */
public final class ShardReplacer {

    /** Another process that replaces a server is done soon. */
    private static final int TRIES = 50;

    private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ShardLines lines;
    private final LeasedDescriptor map;
    private final SortedMap<Integer, RemoteSpace> reached;
    private final int silent;
    private final boolean lostForGood;
    /** By server: what it says of the changes of the map's servers. */
    private final TreeMap<Integer, ShardDirectory> directories = new TreeMap<>();

    /**
     * The edition in which a process opens the map.
     *
     * @param spaces of the servers that it has, by their numbers
     */
    public record UsedEdition(long id, ShardDirectory directory, SortedMap<Integer, RemoteSpace> spaces) {}

    /**
     * @param lines to the map's servers
     * @param reached the map's servers that answer, by their numbers
     * @param silent how many other servers were named that do not answer, or have no part of the map
     * @param lostForGood whether one more was named, without which the process opens the map as it is lost for good; if
     *     it alone is missing, the map's time need not pass
     */
    public ShardReplacer(
            ShardLines lines,
            LeasedDescriptor map,
            SortedMap<Integer, RemoteSpace> reached,
            int silent,
            boolean lostForGood) {
        this.lines = lines;
        this.map = map;
        this.reached = reached;
        this.silent = silent;
        this.lostForGood = lostForGood;
    }

    /** A server is sealed by another process. */
    private static final class BusyException extends Exception {

        private static final long serialVersionUID = 1;
    }

    /**
     * Finds the edition, or makes it.
     *
     * @throws MapException if a server is missing that cannot be replaced, or cannot be yet
     */
    public UsedEdition agree() {
        for (int tried = 1; ; tried++) {
            TreeMap<Integer, KnownEditions.Edition> said = new TreeMap<>();
            reached.forEach((number, space) -> said.put(number, ask(number, space)));
            KnownEditions editions = new KnownEditions(map.servers(), said);
            KnownEditions.Edition present = editions.established();
            if (present != null) {
                return use(present.id(), directoryOf(editions, present));
            }
            try {
                return replace(editions);
            } catch (BusyException e) {
                if (tried == TRIES) {
                    throw new MapException("another process replaces a lost server of the map: try again");
                }
                Uninterruptibles.parkNanos(this, TRY_AGAIN_NANOS);
            }
        }
    }

    private UsedEdition use(long id, ShardDirectory directory) {
        TreeMap<Integer, RemoteSpace> present = new TreeMap<>(reached);
        present.keySet().removeIf(number -> !directory.isPresent(number));
        return new UsedEdition(id, directory, present);
    }

    private KnownEditions.Edition ask(int number, RemoteSpace space) {
        MapServiceClient line = lines.to(space, number);
        if (!line.callFirst(ShardCalls.EDITION, 1)) {
            throw ShardLines.unanswered(space);
        }
        ShardDirectory directory = ShardDirectory.of(map);
        long changes = Math.clamp(line.reply(3), 0L, ShardDirectory.MOST_CHANGES);
        for (int i = 0; i < changes; i++) {
            directory = directory.with(ShardDirectory.Change.of(line.reply(ShardCalls.EDITION_WORDS + i)));
        }
        directories.put(number, directory);
        return new KnownEditions.Edition(line.reply(1), line.reply(2), directory.retired(), 0, 0, 0);
    }

    /** What the changes were by which an edition came to be, as one of its servers says. */
    private ShardDirectory directoryOf(KnownEditions editions, KnownEditions.Edition edition) {
        return directories.entrySet().stream()
                .filter(each -> editions.servers().contains(each.getKey()))
                .filter(each -> editions.of(each.getKey()).equals(edition))
                .findFirst()
                .orElseThrow()
                .getValue();
    }

    private UsedEdition replace(KnownEditions editions) throws BusyException {
        long decided = editions.decided();
        KnownEditions left = editions.without(decided);
        KnownEditions.Edition base = left.base();
        long lost = left.lost(base, decided, reached.keySet(), silent + (lostForGood ? 1 : 0));
        long missing = lost & ~decided;
        boolean now = missing == 0 || lostForGood && silent == 0 && Long.bitCount(missing) == 1;
        List<MapServiceClient> asked = left.servers().stream()
                .map(number -> lines.to(reached(number), number))
                .toList();
        try {
            boolean vouched = false;
            for (MapServiceClient line : asked) {
                vouched |= seal(line, lost, now);
            }
            if (!now && !vouched) {
                throw new MapException("no process has the map open, so none says that a server is lost which this one"
                        + " does not reach; check the addresses, and if it is lost for good, say so: farheap kv drain"
                        + " --lost");
            }
            ShardDirectory next = directoryOf(left, base);
            for (long more = lost & ~next.retired(); more != 0; more &= more - 1) {
                next = next.with(new ShardDirectory.Change(Long.numberOfTrailingZeros(more), 0));
            }
            long id = ThreadLocalRandom.current().nextLong();
            for (MapServiceClient line : asked) {
                install(line, editions.newest() + 1, id, next);
            }
            return use(id, next);
        } catch (Throwable e) {
            // Those that have the next edition are sealed no more.
            asked.forEach(line -> line.call(ShardCalls.UNSEAL, 1));
            throw e;
        }
    }

    private RemoteSpace reached(int number) {
        RemoteSpace space = reached.get(number);
        if (space == null) {
            throw new IllegalStateException("server " + number + " was not reached");
        }
        return space;
    }

    /** @return whether a process that has the map open says that the servers are lost */
    private boolean seal(MapServiceClient line, long lost, boolean now) throws BusyException {
        if (!line.with(1, lost).with(2, now ? 1 : 0).callFirst(ShardCalls.SEAL, 3)) {
            if (line.answered() && line.reply(0) == MapCalls.BUSY) {
                throw new BusyException();
            }
            if (line.answered() && line.reply(0) == MapCalls.IN_USE) {
                throw new MapException("a server of the map does not answer, and is replaced when no process that has"
                        + " the map open has reached it for " + map.replaceMillis() + " ms, by what these say to "
                        + line.space.server());
            }
            throw notDone(line);
        }
        return line.reply(1) != 0;
    }

    private static MapException notDone(MapServiceClient line) {
        return new MapException(line.space.server() + " does not replace a lost server of the map: "
                + (line.answered() ? "it says " + line.reply(0) : "it does not answer") + "; try again");
    }

    private static void install(MapServiceClient line, long number, long id, ShardDirectory next) {
        line.with(1, number).with(2, id).with(3, next.changes().size());
        for (int i = 0; i < next.changes().size(); i++) {
            line.with(ShardCalls.EDITION_WORDS + i, next.changes().get(i).word());
        }
        if (!line.callFirst(ShardCalls.INSTALL, ShardCalls.EDITION_WORDS + next.changes().size())) {
            throw notDone(line);
        }
    }
}
