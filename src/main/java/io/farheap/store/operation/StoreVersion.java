package io.farheap.store.operation;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Which checkpoint operations belong to, and how far it is: one word, stored by whoever makes the checkpoint.
 *
 * <pre>
 * RESTING     no checkpoint is made
 * PREPARING   no update begins that would have to wait for the device; those that do are waited for
 * PASSING     the version is one more, and sessions pass to it one by one
 * ALL_PASSED  nobody is inside an operation of the version before: it is complete below the tail
 * PASSING     for as long as somebody may be replacing a record of the version before by a copy, which others may
 *             change in place as soon as the store rests
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

    /** Whether all records are of versions that sessions have. */
    static boolean resting(long state) {
        return (state & 3) == RESTING || (state & 3) == PREPARING;
    }

    /** Whether no update may begin that is not done at once: it would belong to two versions. */
    public static boolean draining(long state) {
        return (state & 3) == PREPARING || (state & 3) == PASSING;
    }

    static boolean allPassed(long state) {
        return (state & 3) == ALL_PASSED;
    }

    /** A checkpoint is to be made. */
    public void prepare() {
        STATE.setRelease(this, version(state()) << 2 | PREPARING);
    }

    /** A checkpoint of the present version begins: no update is pending. */
    public void beginNext() {
        STATE.setRelease(this, version(state()) + 1 << 2 | PASSING);
    }

    public void haveAllPassed() {
        STATE.setRelease(this, version(state()) << 2 | ALL_PASSED);
    }

    /** Sessions change nothing until {@link #rest}: all have passed. */
    public void hold() {
        STATE.setRelease(this, version(state()) << 2 | PASSING);
    }

    public void rest() {
        STATE.setRelease(this, version(state()) << 2);
    }
}
