package io.farheap.server.lease;

import io.farheap.control.RegionGrant;
import io.farheap.server.budget.Budget;
import io.farheap.server.budget.LentResource;
import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/**
 * A space in one lease's hands: its registrations in that lease's protection domain. Closed by whoever is first, or by
 * several at once: the lease's end, the space's end and the client. Thread-safe.
 */
public final class SpaceOpening implements AutoCloseable {

    private final long id;
    private final long spaceId;
    private final long leaseId;
    private final BiConsumer<SpaceOpening, Boolean> onGone;
    private final List<MemoryRegion> registrations = new ArrayList<>();
    private final List<Budget.Loan> loans = new ArrayList<>();
    private List<RegionGrant> grants = List.of();
    private final AtomicBoolean gone = new AtomicBoolean();
    /** From now on nothing is added, and services do not know the lease any more. */
    private volatile boolean leaving;
    /** All have been tried once, so that all refuse operations. */
    private boolean tried;

    private boolean failed;

    /** @param onGone told once, when nothing of the lease's reaches the space any more, and whether that is certain */
    public SpaceOpening(long id, long spaceId, long leaseId, BiConsumer<SpaceOpening, Boolean> onGone) {
        this.id = id;
        this.spaceId = spaceId;
        this.leaseId = leaseId;
        this.onGone = onGone;
    }

    public long id() {
        return id;
    }

    long spaceId() {
        return spaceId;
    }

    public long leaseId() {
        return leaseId;
    }

    public boolean leaving() {
        return leaving;
    }

    public void leave() {
        leaving = true;
    }

    /** In the space's order, from its first region on. */
    public synchronized List<RegionGrant> grants() {
        return grants;
    }

    synchronized void add(List<MemoryRegion> more, Budget.Loan loan, List<RegionGrant> described) {
        registrations.addAll(more);
        loans.add(loan);
        List<RegionGrant> all = new ArrayList<>(grants);
        all.addAll(described);
        grants = List.copyOf(all);
    }

    /**
     * Destroys the registrations. One that the device does not let go of for good is not tried again, and told to
     * {@code onGone}.
     *
     * @throws VerbsException with EBUSY where an operation is in the middle of the memory: close again later
     */
    @Override
    public synchronized void close() {
        leaving = true;
        VerbsException busy = null;
        VerbsException lasting = null;
        for (MemoryRegion registration : registrations) {
            try {
                registration.close();
            } catch (VerbsException e) {
                if (!e.busy()) {
                    failed = true;
                    lasting = e;
                    continue;
                }
                busy = e;
                if (tried) {
                    throw e;
                }
            }
        }
        tried = true;
        if (busy != null) {
            throw busy;
        }
        if (lasting != null) {
            throw lasting;
        }
    }

    /**
     * After {@link #close}: nothing of the lease's reaches the space, unless something failed. Once, whoever is first.
     */
    public void gone(boolean fenced) {
        if (gone.compareAndSet(false, true)) {
            boolean clean;
            synchronized (this) {
                clean = fenced && !failed;
                LentResource.close(loans);
            }
            onGone.accept(this, clean);
        }
    }
}
