package io.farheap.server.pull;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.server.budget.Borrower;
import io.farheap.server.budget.Budget;
import io.farheap.server.fence.Fence;
import io.farheap.server.fence.RetiredResources;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What other servers have of one granted region: the ticket by which one of them may read it, and the pulls of those
 * that do. Thread-safe. Its lock is taken with the lease's held, and the lease's is not taken with it held.
 */
public final class RegionExport {

    private final int regionId;
    private final MemorySegment region;
    private final Borrower client;
    private final CompletionQueue completions;
    private final RetiredResources retired;
    /** Ends the latest ticket for it. A new one replaces it. */
    private Runnable revoke = () -> {};
    /** By which alone the region may be read anew, or null. */
    private @Nullable ExportTicket<RegionExport> latest;
    /** The other server that reads it, or null. A new one replaces it. */
    private @Nullable SourcePull source;
    /** Other servers that read it, that are closed and that the device is busy with. */
    private final List<SourcePull> leaving = new ArrayList<>();
    /** Set when the region goes back. Read without the lock. */
    private volatile boolean over;

    /**
     * @param client whose region it is
     * @param completions of queue pairs that post nothing, so it stays empty
     */
    public RegionExport(
            int regionId,
            MemorySegment region,
            Borrower client,
            CompletionQueue completions,
            RetiredResources retired) {
        this.regionId = regionId;
        this.region = region;
        this.client = client;
        this.completions = completions;
        this.retired = retired;
    }

    /** Another ticket instead of the one before. */
    public synchronized ExportTicket<RegionExport> issue(ExportTickets<RegionExport> tickets) {
        revoke.run();
        ExportTicket<RegionExport> ticket = tickets.issue(this);
        revoke = () -> tickets.remove(ticket);
        latest = ticket;
        // A pull by the one before may be waiting.
        notifyAll();
        return ticket;
    }

    /**
     * Ends the pull that read the region before, if any. Waits for earlier ones that the device is busy with, which on
     * a busy machine it is for some milliseconds, but not for as long as a process that is stopped may be.
     *
     * @param ticket which was redeemed; it is refused where there is a newer one, whose pull this would end
     * @param pulls by their ids: the pull is among them from now on, instead of the one before
     */
    public SourcePull openPull(
            ExportTicket<RegionExport> ticket,
            long pullId,
            Context context,
            Endpoint puller,
            Map<Long, RegionExport> pulls) {
        SourcePull before;
        SourcePull opened;
        synchronized (this) {
            boolean left = awaitLeaving(ticket);
            if (over) {
                throw new ControlException(Code.TICKET_REFUSED, "the exported region was given back");
            }
            if (ticket != latest) {
                throw new ControlException(
                        Code.TICKET_REFUSED, "region " + regionId + " was exported again since; use the newer ticket");
            }
            if (!left) {
                throw new ControlException(
                        Code.INVALID_ARGUMENT,
                        "region " + regionId
                                + " was read by another server that has stopped in"
                                + " the middle of a read; wait until that goes on or ends");
            }
            before = source;
            Budget.Loan lent = client.lend(client.budgets().queuePairs(), 1);
            opened = new SourcePull(pullId, context, completions, region, puller, lent, retired);
            source = opened;
            pulls.put(pullId, this);
            if (before != null) {
                leaving.add(before);
                pulls.remove(before.id());
            }
        }
        if (before != null) {
            end(before);
        }
        return opened;
    }

    /**
     * With the lock, which is free meanwhile; only for as long as the ticket is good.
     *
     * @return whether all that were closed are gone
     */
    private boolean awaitLeaving(ExportTicket<RegionExport> ticket) {
        long deadline = System.nanoTime() + retired.patienceNanos;
        while (!over && ticket == latest && !leaving.isEmpty()) {
            long millis = (deadline - System.nanoTime()) / 1_000_000;
            if (millis <= 0) {
                return false;
            }
            try {
                wait(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    public void closePull(long pullId) {
        SourcePull closed;
        synchronized (this) {
            if (source == null || source.id() != pullId) {
                return;
            }
            closed = source;
            source = null;
            leaving.add(closed);
        }
        end(closed);
    }

    private void end(SourcePull pull) {
        retired.close("a pull from region " + regionId + " of client " + client.clientName(), () -> {
            pull.close();
            synchronized (this) {
                leaving.remove(pull);
                notifyAll();
            }
        });
    }

    /** Whether the region has gone back. */
    public boolean over() {
        return over;
    }

    /** The region goes back: nobody reads it any more, at the latest when the fence is closed. */
    public synchronized void cutOff(Fence fence) {
        over = true;
        notifyAll();
        revoke.run();
        leaving.forEach(pull -> fence.add("a pull from region " + regionId, pull));
        if (source != null) {
            fence.add("a pull from region " + regionId, source);
        }
    }
}
