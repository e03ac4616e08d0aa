package io.farheap.cache;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** softverbs' faults, switched while this process runs. */
public final class SoftverbsFaults {

    private static final MethodHandle CONTROL = Linker.nativeLinker()
            .downcallHandle(
                    SymbolLookup.libraryLookup(VerbsLibrary.softLibrary().toPath(), Arena.global())
                            .findOrThrow("softverbs_control"),
                    FunctionDescriptor.of(JAVA_INT, ADDRESS));

    private SoftverbsFaults() {}

    /** Every operation posted from now on is executed this much later. */
    public static void delayOperations(long nanos) {
        set("straggler=" + (nanos == 0 ? "0" : "1:" + nanos));
    }

    /** That part of the operations posted from now on is executed this much later. */
    static void delayOperations(double part, long nanos) {
        set("straggler=" + part + ":" + nanos);
    }

    /** Every queue pair fails once it has executed that many operations from now on; 0 for none. */
    static void failQueuePairsAfter(int operations) {
        set("qp_error_after=" + operations);
    }

    /** The port of this process's device. */
    public static void link(boolean up) {
        set("link=" + (up ? "up" : "down"));
    }

    private static void set(String settings) {
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(0, (int) CONTROL.invokeExact(arena.allocateFrom(settings)), settings);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
