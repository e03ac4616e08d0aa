package io.farheap.region;

import io.farheap.control.ControlException;
import io.farheap.control.PullResult;
import io.farheap.control.Ticket;

import java.util.List;
import java.util.function.Supplier;

/**
 * Moves one region to another server while it is in use (Redy, section 6.2: unpaused reads, pause-on-migration writes).
 *
 * <ol>
 * <li>draining: new writes to the region are held, and every session's posted ones are awaited;
 * <li>copying: the new server pulls the region from the old one with one-sided READs; reads go on from the old copy;
 * <li>new: the table entry is swapped by one store, held writes go on to the new copy, and the old one is freed once every
 * session has passed the swap and its reads of the old copy have completed.
 * </ol>
 *
 * <p>A write whose outcome is unknown, because its connection failed, is fenced before the copy begins: the server destroys that
 * queue pair.
 *
 * <p>There are no dual writes: concurrent ones could apply in opposite orders on the two copies. A failure before the swap leaves
 * the region where it was. One migration at a time moves a given region; the caller sees to it.
 */
public final class RegionMigration {

    private final RegionTable table;
    private final Supplier<List<? extends MigrationParticipant>> participants;

    /** @param participants the sessions that are open when it is called */
    public RegionMigration(RegionTable table, Supplier<List<? extends MigrationParticipant>> participants) {
        this.table = table;
        this.participants = participants;
    }

    /**
     * Moves a region.
     *
     * @param index       of the virtual region
     * @param destination where it goes
     * @throws ControlException where a server refuses or does not answer: the region is where it was, and writes go on
     */
    public MigrationResult migrate(int index, RemoteServer destination) {
        RemoteRegion old = table.get(index);
        RemoteRegion fresh = destination.allocate(1).getFirst();
        Ticket ticket;
        try {
            for (MigrationParticipant participant : participants.get()) {
                participant.ensureConnected(destination);
            }
            ticket = old.server().export(old);
            destination.preparePull(fresh, old.server(), ticket);
        } catch (Throwable e) {
            destination.releaseQuietly(fresh);
            throw e;
        }
        long held = System.nanoTime();
        PullResult pulled;
        try {
            DividedRegion division = DividedRegion.moving(old, table.regionBytes(), fresh, false);
            division.held(table.regionBytes());
            table.set(index, old.divided(division));
            quiesceAll(old);
            old.server().fenceForgotten();
            pulled = destination.pull(fresh, old.server(), ticket);
        } catch (Throwable e) {
            table.set(index, old);
            resumeAll();
            destination.releaseQuietly(fresh);
            throw e;
        }
        table.set(index, fresh);
        resumeAll();
        long resumed = System.nanoTime();
        free(old);
        return new MigrationResult(1, pulled.bytes(), pulled.nanos(), System.nanoTime() - held, resumed - held);
    }

    private void quiesceAll(RemoteRegion region) {
        for (MigrationParticipant participant : participants.get()) {
            participant.quiesce(region);
        }
    }

    private void resumeAll() {
        for (MigrationParticipant participant : participants.get()) {
            participant.resume();
        }
    }

    private void free(RemoteRegion old) {
        boolean passed = true;
        for (MigrationParticipant participant : participants.get()) {
            try {
                participant.quiesce(old);
            } catch (RuntimeException e) {
                passed = false;
            }
        }
        // Only a server that does not answer cannot be fenced; its lease will end and free the region.
        if (passed) {
            old.server().releaseQuietly(old);
        }
    }
}
