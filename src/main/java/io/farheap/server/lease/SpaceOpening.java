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
 * A space that one lease has open: its registrations in that lease's protection domain. The lease's end, the space's
 * end and the client may close it, also several at once. Thread-safe.
 */
public final class SpaceOpening implements AutoCloseable {

    private final long id;
    private final long spaceId;
    private final long leaseId;
    private final boolean readOnly;
    private final BiConsumer<SpaceOpening, Boolean> onGone;
    private final List<MemoryRegion> registrations = new ArrayList<>();
    private final List<Budget.Loan> loans = new ArrayList<>();
    private List<RegionGrant> grants = List.of();
    private final AtomicBoolean gone = new AtomicBoolean();
    /** From now on no registration is added, and services do not find the lease any more. */
    private volatile boolean leaving;
    /** All registrations have been tried once, so that all refuse operations. */
    private boolean tried;

    private boolean failed;

    /**
     * @param readOnly whether the lease may READ the space and nothing else
     * @param onGone called once, when no registration of the lease reaches the space any more, with whether that is
     *     certain
     */
    public SpaceOpening(
            long id, long spaceId, long leaseId, boolean readOnly, BiConsumer<SpaceOpening, Boolean> onGone) {
        this.id = id;
        this.spaceId = spaceId;
        this.leaseId = leaseId;
        this.readOnly = readOnly;
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

    boolean readOnly() {
        return readOnly;
    }

    public boolean leaving() {
        return leaving;
    }

    public void leave() {
        leaving = true;
    }

    /** The grants in the space's order, from its first region on. */
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
     * Destroys the registrations. One that the device does not release for good is not tried again, and reported to
     * {@code onGone}.
     *
     * @throws VerbsException with EBUSY if an operation is using the memory: close again later
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
     * To be called after {@link #close}: no registration of the lease reaches the space, unless one failed. Takes
     * effect once.
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
