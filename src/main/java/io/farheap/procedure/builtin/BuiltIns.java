package io.farheap.procedure.builtin;

import java.util.List;

/** All procedures of this package. */
public final class BuiltIns {

    /** In the order of their names. */
    public static final List<Class<?>> ALL = List.of(
            Aggregate.class,
            Append.class,
            Chase.class,
            ChaseToKey.class,
            CompareAndSetWords.class,
            Filter.class,
            HashGet.class,
            TreeGet.class,
            TreeRange.class);

    private BuiltIns() {}
}
