package io.farheap.measure;

import io.farheap.connection.Connection;
import io.farheap.posix.Hardware;
import io.farheap.slo.ModelSubject;
import io.farheap.verbs.Context;
import java.util.Locale;

/** Makes the subject of a model of this machine and one of its devices. */
public final class ModelSubjects {

    /**
     * No measurement gained from deeper queues of one connection; the limit keeps a model small if a device allows
     * thousands.
     */
    private static final int USUAL_DEPTH = 16;

    private ModelSubjects() {}

    /**
     * @param context of the device
     * @param switches between client and server: 0 on one host, 1, 3 or 5
     * @param recordBytes bytes of each read and write
     * @param readPercent share of reads among the operations
     * @param cores how many cores a cache may use, or 0 for half of the machine's, as a server on this host needs its
     *     own
     * @param depth the largest queue depth, or 0 for the device's, but at most 16
     * @throws IllegalArgumentException if one is out of its range
     */
    public static ModelSubject of(
            Context context, int switches, int recordBytes, int readPercent, int cores, int depth) {
        int deepest = deepest(context);
        if (depth > deepest) {
            throw new IllegalArgumentException(
                    "a queue depth of " + depth + ": " + context.device().name() + " takes up to " + deepest);
        }
        return new ModelSubject(
                device(context),
                Hardware.describe(),
                switches,
                recordBytes,
                readPercent,
                cores == 0 ? Math.max(1, Runtime.getRuntime().availableProcessors() / 2) : cores,
                depth == 0 ? Math.min(deepest, USUAL_DEPTH) : depth);
    }

    /** The largest queue depth that a device allows. */
    public static int deepest(Context context) {
        return Connection.maxDepth(context.limits());
    }

    private static String device(Context context) {
        String name = context.device().name() + " (" + context.library().name().toLowerCase(Locale.ROOT) + ")";
        String model = SoftverbsModel.of(context.library());
        return model.equals(SoftverbsModel.NONE) ? name : name + ", " + model;
    }
}
