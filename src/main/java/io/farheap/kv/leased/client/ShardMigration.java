package io.farheap.kv.leased.client;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.memory.ByteSize;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.Uninterruptibles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Has a server join a leased map, or leave it, while the map is used. All of its servers lose the ranges of hashes that
 * go elsewhere, and drop what they have of these, before any has one more; so no two have a key at a time. One thread.
 */
public final class ShardMigration {

    /** As of {@link ShardReplacer}. */
    private static final int TRIES = 100;

    private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long ZEROING_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    /** How long a server that has left keeps its memory for processes that have not learned of that. */
    private static final long LEARN_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final RemoteMemory remote;
    private final SpaceKey key;
    private final LeasedSpace space;

    public ShardMigration(RemoteMemory remote, SpaceKey key, LeasedSpace space) {
        this.remote = remote;
        this.key = key;
        this.space = space;
    }

    /** Makes a change that follows on the present directory. */
    private interface NextChange {
        ShardDirectory.Change after(ShardDirectory before, Seals seals) throws ShardLines.BusyException;
    }

    /** The servers that are sealed for a change, in their order, and how to seal them. */
    private final class Seals {

        private final List<MapServiceClient> sealed = new ArrayList<>();
        private final long retired;
        private final long leaving;
        private final long id;

        Seals(ShardDirectory before, long leaving, long id) {
            retired = before.retired();
            this.leaving = leaving;
            this.id = id;
        }

        void add(MapServiceClient line) throws ShardLines.BusyException {
            // Before it is: a server may have done so without an answer.
            sealed.add(line);
            ShardLines.seal(line, retired, true, leaving, id, space.map());
        }

        /**
         * Seals all again after something that may take long, so that seals may have ended.
         *
         * @throws ShardLines.BusyException if a server is not in the edition any more of which the change is
         */
        void renew() throws ShardLines.BusyException {
            for (MapServiceClient line : sealed) {
                ShardLines.seal(line, retired, true, leaving, id, space.map());
            }
        }
    }

    /**
     * Has a server join, and waits until all processes know that.
     *
     * @param regions that the map has on it
     * @throws IllegalArgumentException if it is in the map already, or cannot be
     * @throws MapException if a server does not answer, or the map's servers change
     */
    public void join(String hostPort, int regions) {
        RemoteServer server = remote.attach(hostPort);
        try (ShardLines lines = new ShardLines(remote)) {
            refuseTwice(server, hostPort);
            long[] joined = new long[1];
            change(lines, 0, (before, seals) -> {
                joined[0] = before.servers();
                ShardDirectory.Change joins = new ShardDirectory.Change(
                        before.servers(), regions * space.map().shape().perRegion());
                // Refuses what cannot be before the server is asked for memory.
                before.with(joins);
                RemoteSpace made = make(server, before, regions, seals);
                try {
                    seals.renew();
                    seals.sealed.forEach(line -> ShardLines.name(line, joins.server(), hostPort));
                    MapServiceClient line = lines.to(made, joins.server());
                    seals.sealed.add(line);
                    sealNew(line, before);
                    ShardLines.name(line, joins.server(), hostPort);
                    return joins;
                } catch (Throwable e) {
                    seals.sealed.removeIf(each -> each.space == made);
                    lines.leave(joins.server());
                    dropUnused(server, made, e);
                    throw e;
                }
            });
            awaitProcesses(lines, () -> space.servers() > joined[0]);
        } finally {
            // The process reaches it as all others do, when it learns that the server has joined.
            remote.detach(server);
        }
    }

    /** No process has heard of the space. */
    private void dropUnused(RemoteServer server, RemoteSpace made, Throwable because) {
        try {
            remote.dropSpace(server, key, made.id());
        } catch (ControlException e) {
            because.addSuppressed(e);
        }
    }

    private void sealNew(MapServiceClient line, ShardDirectory before) {
        try {
            ShardLines.seal(line, before.retired(), true, 0, 0, space.map());
        } catch (ShardLines.BusyException e) {
            throw new MapException("another process has the map's part on the new server: try again");
        }
    }

    /**
     * Has a server leave; what it has is lost. It waits until all processes know that, and then ends its part of the
     * map.
     *
     * @return how many objects it had
     * @throws IllegalArgumentException if it is the last of those that the map was made on, or none of the map's
     * @throws MapException if a server does not answer, or the map's servers change
     */
    public long leave(String hostPort) {
        Map.Entry<Integer, RemoteSpace> leaving = space.edition().spaces().entrySet().stream()
                .filter(each -> each.getValue().server().address().equals(hostPort))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("server " + hostPort + " is not one of the map's, "
                        + space.spaces().stream()
                                .map(each -> each.server().address())
                                .toList()));
        int number = leaving.getKey();
        refuseLast(space.edition().directory(), number, hostPort);
        if (number >= Long.SIZE) {
            throw new IllegalArgumentException("server " + hostPort + " has number " + number + "; of a map's servers "
                    + "the first " + Long.SIZE + " can leave");
        }
        long objects = ShardCensus.of(remote, leaving.getValue()).objects();
        try (ShardLines lines = new ShardLines(remote)) {
            change(lines, 1L << number, (before, seals) -> {
                // Another one may have left since.
                refuseLast(before, number, hostPort);
                return new ShardDirectory.Change(number, ShardDirectory.Change.LEFT);
            });
            awaitProcesses(lines, () -> !space.hasServer(number));
        }
        long id = leaving.getValue().id();
        RemoteServer apart = remote.attach(hostPort);
        try {
            remote.dropSpace(apart, key, id);
        } catch (ControlException e) {
            // The space has ended meanwhile.
        } finally {
            remote.detach(apart);
        }
        return objects;
    }

    private void refuseLast(ShardDirectory before, int number, String hostPort) {
        if (number < space.map().servers() && before.isPresent(number) && before.presentOfMade() == 1) {
            throw new IllegalArgumentException(
                    "server " + hostPort + " is the last of those that the map was made on, by"
                            + " which processes find the map; it stays as long as the map");
        }
    }

    /** Waits until all processes know the map's servers, this one too; for those that are stopped, not for ever. */
    private void awaitProcesses(ShardLines lines, BooleanSupplier known) {
        long deadline = System.nanoTime() + LEARN_NANOS;
        while (!known.getAsBoolean() && System.nanoTime() - deadline < 0) {
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
        for (Map.Entry<Integer, RemoteSpace> each : space.edition().spaces().entrySet()) {
            MapServiceClient line = lines.to(each.getValue(), each.getKey());
            while (line.callFirst(ShardCalls.PROCESSES, 1) && line.reply(1) > 0 && System.nanoTime() - deadline < 0) {
                Uninterruptibles.parkNanos(this, LOOK_NANOS);
            }
        }
    }

    /** @param leaving the server that leaves, as a bit; 0: none */
    private void change(ShardLines lines, long leaving, NextChange change) {
        for (int tried = 1; !tryToChange(lines, leaving, change); tried++) {
            if (tried == TRIES) {
                throw new MapException("another process changes the servers of the map: try again");
            }
            Uninterruptibles.parkNanos(this, TRY_AGAIN_NANOS);
        }
    }

    /** @return false if another process changes the servers */
    private boolean tryToChange(ShardLines lines, long leaving, NextChange change) {
        // Between two attempts another thread may complete a change whose process has ended.
        space.changing().lock();
        try {
            ShardReplacer.UsedEdition edition = space.edition();
            Seals seals = new Seals(edition.directory(), leaving, edition.id());
            try {
                changeOnce(lines, edition, change, seals);
                return true;
            } catch (ShardLines.BusyException e) {
                ShardLines.unseal(seals.sealed);
                return false;
            } catch (Throwable e) {
                ShardLines.unseal(seals.sealed);
                throw e;
            }
        } finally {
            space.changing().unlock();
        }
    }

    private void changeOnce(ShardLines lines, ShardReplacer.UsedEdition edition, NextChange change, Seals seals)
            throws ShardLines.BusyException {
        for (Map.Entry<Integer, RemoteSpace> each : edition.spaces().entrySet()) {
            seals.add(lines.to(each.getValue(), each.getKey()));
        }
        long number = 0;
        for (Map.Entry<Integer, RemoteSpace> each : edition.spaces().entrySet()) {
            ShardEditions.Said said = lines.ask(each.getValue(), each.getKey(), space.map());
            if (said.id() != edition.id() || said.isReleased()) {
                // This process learns of it soon.
                throw new ShardLines.BusyException();
            }
            number = Math.max(number, said.number());
        }
        ShardDirectory before = edition.directory();
        ShardDirectory next = before.with(change.after(before, seals));
        ShardLines.install(seals.sealed, number + 1, ThreadLocalRandom.current().nextLong(), next);
    }

    /**
     * Refuses a server that is in the map by another address: if its process were lost, two of the map's servers would
     * be.
     */
    private void refuseTwice(RemoteServer server, String hostPort) {
        for (RemoteSpace each : space.spaces()) {
            if (each.server().address().equals(hostPort) || each.server().isSameProcess(server)) {
                throw new IllegalArgumentException("server " + hostPort + " is in the map already, as "
                        + each.server().address());
            }
        }
        long regionBytes = server.description().regionBytes();
        if (regionBytes != space.map().regionBytes()) {
            throw new IllegalArgumentException("regions of " + ByteSize.text(regionBytes) + " on " + server
                    + ", and of " + ByteSize.text(space.map().regionBytes())
                    + " in the map; a map lies on servers with regions of one size");
        }
    }

    private RemoteSpace make(RemoteServer server, ShardDirectory before, int regions, Seals seals)
            throws ShardLines.BusyException {
        LeasedDescriptor map = space.map().of(before.servers(), before.shards());
        long millis = millisLeft();
        try {
            return remote.createSpace(server, key, regions, millis, map.encode(), true);
        } catch (ControlException e) {
            if (e.code() != Code.INVALID_ARGUMENT) {
                throw e;
            }
            RemoteSpace there = remote.openSpace(server, key);
            LeasedDescriptor found = LeasedDescriptor.decode(there.descriptor(), there.toString());
            boolean isUsed =
                    space.spaces().stream().anyMatch(each -> each.server().isSameProcess(server));
            if (!found.belongsTo(map) || !found.joined() || isUsed) {
                throw e;
            }
            // Another process may have had the server join since these seals ended, and the space may be in use then;
            // that process took the other servers into another edition, so they are not sealed again.
            seals.renew();
            // A process died while it added the server, or took it out and died before the space there was dropped.
            remote.dropSpace(server, key, there.id());
            return afterDrop(server, regions, millis, map);
        }
    }

    /** Repeats the creation until the memory of the dropped space has been zeroed, and is free. */
    private RemoteSpace afterDrop(RemoteServer server, int regions, long millis, LeasedDescriptor map) {
        long deadline = System.nanoTime() + ZEROING_NANOS;
        while (true) {
            try {
                return remote.createSpace(server, key, regions, millis, map.encode(), true);
            } catch (ControlException e) {
                if (e.code() != Code.OUT_OF_MEMORY || System.nanoTime() - deadline > 0) {
                    throw e;
                }
                Uninterruptibles.parkNanos(this, LOOK_NANOS);
            }
        }
    }

    /** The time to live that the map has left, which the new space gets too. */
    private long millisLeft() {
        RemoteSpace any = space.spaces().getFirst();
        return remote.spaces(any.server()).stream()
                .filter(each -> each.name().equals(any.name()))
                .mapToLong(SpaceInfo::millisLeft)
                .findFirst()
                .orElse(SpacePlane.FOR_EVER);
    }
}
