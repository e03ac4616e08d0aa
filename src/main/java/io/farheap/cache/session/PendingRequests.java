package io.farheap.cache.session;

import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;

/** A session's requests and calls that have not ended yet. */
public final class PendingRequests {

    private final SessionAdmission admission;

    PendingRequests(SessionAdmission admission) {
        this.admission = admission;
    }

    /** How many are between issue and callback. The owner alone, as for all methods up to {@link #unsettled}. */
    public int count() {
        boolean entered = admission.enter();
        try {
            return admission.path().pending() + admission.calls().pending();
        } finally {
            admission.exit(entered);
        }
    }

    /** How many of them wait for a migration. */
    public int held() {
        boolean entered = admission.enter();
        try {
            return admission.path().heldCount() + admission.calls().kept();
        } finally {
            admission.exit(entered);
        }
    }

    /** As {@link RequestPath#owes}. */
    public boolean owes() {
        boolean entered = admission.enter();
        try {
            return admission.path().owes();
        } finally {
            admission.exit(entered);
        }
    }

    /** As {@link RequestPath#unsettled}. */
    public boolean unsettled() {
        boolean entered = admission.enter();
        try {
            return admission.path().unsettled();
        } finally {
            admission.exit(entered);
        }
    }

    /** Whether one uses a buffer that the cache has marked closed. Any thread, as for all methods below. */
    public boolean uses(RequestBuffer buffer) {
        return admission
                .gate()
                .asked(() -> admission.path().uses(buffer) || admission.calls().uses(buffer));
    }

    /** Whether one extends beyond an address of the cache. */
    public boolean reaches(long end) {
        return admission
                .gate()
                .asked(() -> !admission.closed()
                        && (admission.path().reaches(end) || admission.calls().reaches(end)));
    }

    /**
     * Shows the addresses of recent requests. Outside of the gate: the tables that it reads live as long as the path.
     */
    public void sample(RegionHeat heat) {
        admission.path().sample(heat);
    }

    /** Describes the session's owner and the requests that have not ended, for messages. */
    public String describe() {
        admission.gate().claim();
        try {
            return "it is of thread " + admission.ownerName() + ", and has "
                    + admission.path().describe();
        } finally {
            admission.gate().unclaim();
        }
    }
}
