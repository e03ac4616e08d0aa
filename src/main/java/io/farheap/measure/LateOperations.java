package io.farheap.measure;

import io.farheap.verbs.Context;
import io.farheap.verbs.VerbsLibrary;
import io.farheap.verbs.soft.SoftverbsCalls;
import java.util.Map;

/**
 * Allows a run to continue although softverbs executes operations later than its NIC model allows, which otherwise ends
 * the process. A space has configurations that overload the machine, and a measurement must find that out. softverbs
 * still reports at the end how many operations were late.
 */
public final class LateOperations {

    private static final String ALLOW = "misses=allow";

    private LateOperations() {}

    /**
     * Allows it in this process.
     *
     * @param context an open context; nothing happens if its library is not softverbs
     * @throws IllegalStateException if softverbs refuses the setting
     */
    public static void allow(Context context) {
        if (context.library() != VerbsLibrary.SOFT) {
            return;
        }
        int error = SoftverbsCalls.control(ALLOW);
        if (error != 0) {
            throw new IllegalStateException("softverbs refuses the setting " + ALLOW + " with errno " + error);
        }
    }

    /**
     * The environment variables for a memory server started for the measurement, which allow it there; empty if this
     * process has no settings for softverbs, or names a file of them.
     */
    public static Map<String, String> environment() {
        String settings = System.getenv(SoftverbsModel.VARIABLE);
        if (settings == null || settings.isBlank()) {
            return Map.of();
        }
        // The settings are in a file of the user's, which is not changed.
        return settings.startsWith("@") ? Map.of() : Map.of(SoftverbsModel.VARIABLE, settings + "," + ALLOW);
    }
}
