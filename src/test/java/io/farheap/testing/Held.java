package io.farheap.testing;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Memory whose arena cannot be closed for the moment, since native code has it: a close that throws. */
public final class Held {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle SORT = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("qsort"),
            FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));

    private final Runnable action;
    private Throwable thrown;

    private Held(Runnable action) {
        this.action = action;
    }

    /**
     * Runs an action, once, while the memory is held.
     *
     * @return the throwable of the action, or null
     */
    public static Throwable during(MemorySegment memory, Runnable action) {
        Held held = new Held(action);
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle compare = MethodHandles.lookup()
                    .findVirtual(Held.class, "compare", MethodType.methodType(int.class, long.class, long.class));
            MemorySegment callback = LINKER.upcallStub(
                    compare.bindTo(held), FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG), arena);
            SORT.invokeExact(memory, 2L, 1L, callback);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return held.thrown;
    }

    /** Catches everything, because an exception that left this method would end the JVM. */
    @SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // Found by its name and type.
    private int compare(long left, long right) {
        try {
            action.run();
        } catch (Throwable e) {
            thrown = e;
        }
        return 0;
    }
}
