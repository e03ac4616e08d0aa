package io.farheap.soak;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * softverbs' settings, changed while this process runs. A real device has faults of its own, and takes none from here.
 * An order that the environment variable SOFTVERBS asks for stays.
 */
final class SoftverbsFaultSettings {

    private static final FunctionDescriptor CONTROL = FunctionDescriptor.of(JAVA_INT, ADDRESS);

    private static final String ENVIRONMENT = System.getenv().getOrDefault("SOFTVERBS", "");

    /** None on a real device. */
    private final @Nullable MethodHandle control;

    SoftverbsFaultSettings() {
        control = Devices.library() != VerbsLibrary.SOFT
                ? null
                : Linker.nativeLinker()
                        .downcallHandle(
                                SymbolLookup.libraryLookup(
                                                VerbsLibrary.softLibrary().toPath(), Arena.global())
                                        .findOrThrow("softverbs_control"),
                                CONTROL);
    }

    boolean possible() {
        return control != null;
    }

    /** Whether the device's order is an episode's to choose. */
    boolean orderIsFree() {
        return possible() && !ENVIRONMENT.contains("order=");
    }

    /** @param settings as in the environment variable SOFTVERBS */
    void set(String settings) {
        if (control == null) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            int error = (int) control.invokeExact(arena.allocateFrom(settings));
            if (error != 0) {
                throw new IllegalArgumentException("softverbs refuses the settings " + settings);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    void none() {
        set("straggler=0 qp_error_after=0" + (orderIsFree() ? " order=strict" : ""));
    }
}
