package io.farheap.store.operation;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The store's version, which says which checkpoint operations belong to, and the state of that checkpoint: one word.
 * The thread that makes the checkpoint stores it with release; sessions load it with acquire, inside an epoch.
 *
 * <pre>
 * RESTING     no checkpoint is being made
 * PREPARING   updates that would have to wait for the device are refused; the pending ones are being finished
 * PASSING     the version is one higher, and sessions pass to it one by one
 * ALL_PASSED  no session is inside an operation of the previous version: below the tail, that version is complete
 * PASSING     again, while a session may still be replacing a record of the previous version by a copy: as soon as the
 *             store is RESTING, other sessions may change that record in place, and the copy would lack the change
 * </pre>
 */
public final class StoreVersion {

    private static final VarHandle STATE;
    private static final int RESTING = 0;
    private static final int PASSING = 1;
    private static final int ALL_PASSED = 2;
    private static final int PREPARING = 3;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(StoreVersion.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused")
    private long state;

    public StoreVersion(long version) {
        state = version << 2;
    }

    public long state() {
        return (long) STATE.getAcquire(this);
    }

    public static long version(long state) {
        return state >>> 2;
    }

    /** Whether no session has to look at the versions of records. */
    static boolean resting(long state) {
        return (state & 3) == RESTING || (state & 3) == PREPARING;
    }

    /** Whether an update that would be pending may not begin, since it could belong to two versions. */
    public static boolean draining(long state) {
        return (state & 3) == PREPARING || (state & 3) == PASSING;
    }

    static boolean allPassed(long state) {
        return (state & 3) == ALL_PASSED;
    }

    /** Announces a checkpoint. */
    public void prepare() {
        STATE.setRelease(this, version(state()) << 2 | PREPARING);
    }

    /** Begins the next version; the checkpoint gets all operations of the current one. No update is pending. */
    public void beginNext() {
        STATE.setRelease(this, version(state()) + 1 << 2 | PASSING);
    }

    /** Says that all sessions have passed to the new version. */
    public void haveAllPassed() {
        STATE.setRelease(this, version(state()) << 2 | ALL_PASSED);
    }

    /** Keeps sessions, which have all passed, from changing anything until {@link #rest}. */
    public void hold() {
        STATE.setRelease(this, version(state()) << 2 | PASSING);
    }

    /** Ends the checkpoint as far as sessions are concerned. */
    public void rest() {
        STATE.setRelease(this, version(state()) << 2);
    }
}
