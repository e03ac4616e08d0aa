package io.farheap.kv.leased.client;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.space.GrowingMemory;
import io.farheap.memory.MappedFaults;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A value that needs pieces, from the issue of its request to the end: a copy here, and the part of this process's area
 * at the server to which the copy is written. One request of a session has it at a time. The session's thread.
 */
final class AreaWriter implements AutoCloseable {

    /** WRITEs that are in flight at a time. */
    static final int WINDOW = 16;

    private static final int WRITE_BYTES = 256 << 10;

    private final ClientAreas areas;
    private final BlockChecksum checksum;
    private final int writeBytes;
    private final AreaPart part = new AreaPart();
    /** The copies. */
    final GrowingMemory memory;

    private @Nullable RegisteredBuffer copy;
    private int place = LeasedPlaces.NO_PLACE;
    private int server;
    private int bytes;
    private long sum;
    private int posted;
    private int pending;
    private boolean failed;
    /** Whether it waits for a part of the area, and since when. */
    private boolean waits;

    private long waitsSince;

    AreaWriter(RemoteMemory remote, ClientAreas areas, BlockChecksum checksum) {
        this.areas = areas;
        this.checksum = checksum;
        writeBytes = Math.min(WRITE_BYTES, remote.maxMessageBytes());
        memory = new GrowingMemory(remote);
    }

    boolean isFree() {
        return place == LeasedPlaces.NO_PLACE;
    }

    boolean isOf(int request) {
        return place == request;
    }

    /**
     * Copies the value of a request that is about to be issued.
     *
     * @return false if this process has no memory for it; the writer is unchanged then
     */
    boolean begin(int request, int itsServer, MemorySegment value, long from, int valueBytes) {
        RegisteredBuffer into = memory.atLeast(valueBytes);
        if (into == null) {
            return false;
        }
        MemorySegment.copy(value, from, into.segment(), 0, valueBytes);
        MappedFaults.raise(value);
        copy = into;
        place = request;
        server = itsServer;
        bytes = valueBytes;
        waits = false;
        sum = LeasedPieces.sumOfAll(into.segment(), 0, valueBytes, checksum);
        rewind();
        return true;
    }

    /** Whether it has a part of the area, which it takes if it can. */
    boolean takesPart() {
        boolean has = part.region != null && (posted > 0 || areas.has(server, part));
        if (!has && part.region != null) {
            // Another session has found that its region is this process's no more.
            areas.give(server, part);
        }
        has |= part.region == null && areas.take(server, bytes, part);
        if (has) {
            waits = false;
        } else if (!waits || areas.isAsking(server)) {
            waits = true;
            waitsSince = System.nanoTime();
        }
        return has;
    }

    /** Whether it has waited too long for a part that other sessions have. */
    boolean hasWaitedLong() {
        return waits && System.nanoTime() - waitsSince > ClientAreas.MOST_WAIT_NANOS;
    }

    /**
     * Posts the next WRITEs, as many as there is room for.
     *
     * @return one of {@link PostResult}, of the last of them
     */
    int post(RemoteQueue queue, long tag) {
        RegisteredBuffer from = copy;
        RemoteRegion to = part.region;
        if (from == null || to == null) {
            return PostResult.INVALID;
        }
        while (posted < bytes && pending < WINDOW) {
            int length = Math.min(writeBytes, bytes - posted);
            int result = queue.write(to, part.at + posted, from, posted, length, tag);
            if (result != PostResult.OK) {
                failed |= result != PostResult.FULL;
                return result;
            }
            posted += length;
            pending++;
        }
        return PostResult.OK;
    }

    /** A WRITE has ended. */
    void ended(boolean done) {
        pending--;
        failed |= !done;
    }

    int pending() {
        return pending;
    }

    /** Whether a WRITE has failed, since {@link #rewind}. */
    boolean hasFailed() {
        return failed;
    }

    boolean hasMore() {
        return posted < bytes;
    }

    /** Begins to write again, from the first byte on; while nothing is pending. */
    void rewind() {
        posted = 0;
        failed = false;
    }

    /** The value goes to another server; while nothing is pending. */
    void moveTo(int another) {
        areas.give(server, part);
        server = another;
        waits = false;
        rewind();
    }

    /** The number of the region that has the value, at its server. */
    int regionId() {
        RemoteRegion region = part.region;
        if (region == null) {
            throw new IllegalStateException("the value is in no area");
        }
        return region.regionId();
    }

    /** The offset of the value in its region. */
    long at() {
        return part.at;
    }

    long sum() {
        return sum;
    }

    /** The server does not know the region of the part as this process's. */
    void dropPart() {
        areas.drop(server, part);
    }

    /** The request has ended, and none of its WRITEs is in flight: another one may have the part of the area. */
    void end() {
        place = LeasedPlaces.NO_PLACE;
        areas.give(server, part);
    }

    /** Gives the part back, too; after the queue, so that nothing is in flight. */
    @Override
    public void close() {
        end();
        memory.close();
    }
}
