package io.farheap.procedure.service;

import io.farheap.procedure.format.CallFormat;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/** What one server thread has done with calls. That thread counts; any thread reads, each number as it was lately. */
final class CallCounters {

    private static final VarHandle NUMBER = MethodHandles.arrayElementVarHandle(long[].class);

    /** Those of {@link io.farheap.procedure.CallStatus} that a server gives. */
    static final int STATUSES = 8;
    /** Went back to their sessions, since what they met is elsewhere. */
    static final int LEFT = STATUSES;
    /** Units of fuel. */
    static final int FUEL = STATUSES + 1;
    /** Slices of calls that waited, and the time that these took, in ns. */
    static final int SLICES = STATUSES + 2;

    static final int SLICE_NANOS = STATUSES + 3;
    /** Calls that ended on another thread than the one whose ring they came over. */
    static final int STOLEN = STATUSES + 4;
    /** Calls that went on after the batch that they came in. */
    static final int PUT_OFF = STATUSES + 5;
    /** Calls that ran in turns with others. */
    static final int TURNS = STATUSES + 6;

    static final int COUNT = STATUSES + 7;

    /** As {@link io.farheap.server.MemoryServer#counters} has them. */
    static final List<String> NAMES = List.of(
            "procedures.calls.done",
            "procedures.calls.out of range",
            "procedures.calls.split",
            "procedures.calls.result full",
            "procedures.calls.out of fuel",
            "procedures.calls.fault",
            "procedures.calls.not aligned",
            "procedures.calls.refused",
            "procedures.calls.left",
            "procedures.fuel",
            "procedures.slices",
            "procedures.slice nanos",
            "procedures.stolen",
            "procedures.put off",
            "procedures.in turns");

    private final long[] numbers = new long[COUNT];

    void add(int which, long much) {
        NUMBER.setOpaque(numbers, which, numbers[which] + much);
    }

    /** @param status also {@link CallFormat#LEFT} */
    void ended(int status) {
        add(status == CallFormat.LEFT ? LEFT : status, 1);
    }

    long get(int which) {
        return (long) NUMBER.getOpaque(numbers, which);
    }
}
