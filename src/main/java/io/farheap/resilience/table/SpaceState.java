package io.farheap.resilience.table;

import io.farheap.coding.ErasureCode;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Resilience;
import io.farheap.time.TimeLimit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What the sessions of a space and its keeper share. */
public final class SpaceState {

    public final RemoteMemory memory;
    public final Resilience resilience;
    public final ErasureCode code;
    public final SlabTable table;
    /** Of the pages that there were at first; those by which the space has grown share them. */
    public final StripeWords words;

    public final long pagesPerSlab;
    private final long slabBytes;
    public final Map<RemoteServer, ServerErrorCounts> records = new ConcurrentHashMap<>();
    /** What each open session has to the servers. */
    public final List<FenceStatus> sessions = new CopyOnWriteArrayList<>();
    /** Servers that have been retired: nothing of the space is there any more. */
    public final Set<RemoteServer> left = ConcurrentHashMap.newKeySet();

    public final UnfinishedWrites unfinished = new UnfinishedWrites();
    /** So long closes wait for what sessions have under way: each for its own, or all of them together. */
    public volatile long closeNanos = TimeLimit.of(10_000_000_000L);
    /** When the time is over for all of them; null while that is each one's own. */
    private volatile @Nullable Long closeAt;
    /** Sessions that are open, or being opened. */
    public final AtomicInteger open = new AtomicInteger();

    public final CodedCountTotals counts = new CodedCountTotals();
    /** Smaller slabs are not made by their servers, which take longer to connect than this process to make them. */
    public volatile long leastForServers = 64 << 20;
    /** Told when a slab has become void; does not wait. */
    public final Runnable onVoid;

    public SpaceState(RemoteMemory memory, Resilience resilience, SlabTable table, long slabBytes, Runnable onVoid) {
        this.memory = memory;
        this.resilience = resilience;
        this.code = ErasureCode.of(resilience.dataSplits(), resilience.paritySplits());
        this.table = table;
        this.pagesPerSlab = slabBytes / resilience.splitBytes();
        this.slabBytes = slabBytes;
        this.words = new StripeWords(pages());
        this.onVoid = onVoid;
    }

    public long slabBytes() {
        return slabBytes;
    }

    private long pages() {
        return pagesPerSlab * table.ranges();
    }

    public long capacity() {
        return pages() * resilience.pageBytes();
    }

    public ServerErrorCounts record(RemoteServer server) {
        return records.computeIfAbsent(server, ServerErrorCounts::new);
    }

    /** All sessions are to be closed: their time for that begins now, unless it has begun before. */
    public void beginClosing() {
        if (closeAt == null) {
            closeAt = System.nanoTime() + closeNanos;
        }
    }

    /** Whether a session that has been closing since some time waits no longer for what it has under way. */
    public boolean isCloseOver(long since) {
        long now = System.nanoTime();
        Long all = closeAt;
        return now - since >= closeNanos || all != null && now - all >= 0;
    }

    /** Where a server's lease is lost, so is what it had. */
    public boolean lost(RemoteServer server) {
        if (server.lost() == null) {
            return false;
        }
        ServerErrorCounts record = record(server);
        if (!record.gone) {
            table.makeVoid(server);
            record.gone = true;
            onVoid.run();
        }
        return true;
    }
}
