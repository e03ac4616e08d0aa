package io.farheap.cache.session;

import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;

/** What of a session's requests and calls has not ended yet. */
public final class PendingRequests {

    private final SessionAdmission admission;

    PendingRequests(SessionAdmission admission) {
        this.admission = admission;
    }

    /** How many there are between issue and callback. The owner, as all up to {@link #unsettled}. */
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

    /** Whether one uses a buffer that the cache has marked closed. Any thread, as all below. */
    public boolean uses(RequestBuffer buffer) {
        return admission
                .gate()
                .asked(() -> admission.path().uses(buffer) || admission.calls().uses(buffer));
    }

    /** Whether one goes beyond an address of the cache. */
    public boolean reaches(long end) {
        return admission
                .gate()
                .asked(() -> !admission.closed()
                        && (admission.path().reaches(end) || admission.calls().reaches(end)));
    }

    /** Shows where requests go. Outside of the gate: the tables that it reads are there for good. */
    public void sample(RegionHeat heat) {
        admission.path().sample(heat);
    }

    /** Whose the session is, and which requests have not ended; for messages. */
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
