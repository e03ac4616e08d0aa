package io.farheap.verbs.soft;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.farheap.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** The functions of softverbs beyond verbs, in a process that has loaded it. Any thread may call. */
public final class SoftverbsCalls {

    private static final SymbolLookup LIBRARY =
            SymbolLookup.libraryLookup(VerbsLibrary.softLibrary().toPath(), Arena.global());
    private static final MethodHandle CONTROL = call("softverbs_control", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle MODEL = call("softverbs_model", FunctionDescriptor.ofVoid(ADDRESS));

    private SoftverbsCalls() {}

    private static MethodHandle call(String name, FunctionDescriptor form) {
        return Linker.nativeLinker().downcallHandle(LIBRARY.findOrThrow(name), form);
    }

    /**
     * Changes settings of softverbs.
     *
     * @param settings as in the environment variable SOFTVERBS
     * @return 0, or an errno
     */
    public static int control(String settings) {
        try (Arena arena = Arena.ofConfined()) {
            return (int) CONTROL.invokeExact(arena.allocateFrom(settings));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** @param numbers receives the numbers in the order of {@link SoftverbsCounters} */
    static void model(MemorySegment numbers) {
        try {
            MODEL.invokeExact(numbers);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
