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
 * The access of other servers to one granted region: the ticket by which one of them may read it, and the pulls of
 * those that do. Thread-safe. Lock order: its lock is taken while the lease's is held, never the other way round.
 */
public final class RegionExport {

    private final int regionId;
    private final MemorySegment region;
    private final Borrower client;
    private final CompletionQueue completions;
    private final RetiredResources retired;
    /** Ends the latest ticket for it. A new one replaces it. */
    private Runnable revoke = () -> {};
    /** The only ticket by which the region may be read, or null. */
    private @Nullable ExportTicket<RegionExport> latest;
    /** The other server that reads it, or null. A new one replaces it. */
    private @Nullable SourcePull source;
    /** Pulls that are closed while the device is still busy with them. */
    private final List<SourcePull> leaving = new ArrayList<>();
    /** Set when the region is given back. Read without the lock. */
    private volatile boolean over;

    /**
     * @param client that holds the region
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

    /** Issues a ticket that replaces the one before. */
    public synchronized ExportTicket<RegionExport> issue(ExportTickets<RegionExport> tickets) {
        revoke.run();
        ExportTicket<RegionExport> ticket = tickets.issue(this);
        revoke = () -> tickets.remove(ticket);
        latest = ticket;
        // A pull by the earlier ticket may be waiting.
        notifyAll();
        return ticket;
    }

    /**
     * Ends the earlier pull of the region, if any. Waits for earlier pulls with which the device is busy, which on a
     * busy machine takes some milliseconds, but not for as long as a process may be stopped.
     *
     * @param ticket which was redeemed; it is refused if there is a newer one, whose pull this would end
     * @param pulls by their ids: the new pull replaces the earlier one in this map
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
                                + " was read by another server, which has stopped in"
                                + " the middle of a read; wait until that server continues or ends");
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
     * Called with the lock, which is released while it waits; waits only while the ticket is valid.
     *
     * @return whether all closed pulls have ended
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

    /** Whether the region has been given back. */
    public boolean over() {
        return over;
    }

    /** The region is given back: no server reads it any more, at the latest when the fence is closed. */
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
