package io.farheap.testing;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** The settings of softverbs, changed while this process runs; its README says what there is. */
public final class Softverbs {

    private static final MethodHandle CONTROL = Linker.nativeLinker()
            .downcallHandle(
                    SymbolLookup.libraryLookup(VerbsLibrary.softLibrary().toPath(), Arena.global())
                            .findOrThrow("softverbs_control"),
                    FunctionDescriptor.of(JAVA_INT, ADDRESS));

    private Softverbs() {}

    /** @param settings as in the environment variable SOFTVERBS */
    public static void set(String settings) {
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(0, (int) CONTROL.invokeExact(arena.allocateFrom(settings)), settings);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * So many devices, {@code soft0} and on, each as a machine of its own: of servers in this process that are on
     * different ones one can be broken alone.
     */
    public static void devices(int count) {
        set("devices=" + count);
    }
}
