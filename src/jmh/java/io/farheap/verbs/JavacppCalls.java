package io.farheap.verbs;

import io.farheap.verbs.binding.ibv_cq;
import io.farheap.verbs.binding.ibv_wc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.Name;
import org.bytedeco.javacpp.annotation.Platform;

/** The functions of {@code native_calls.h} as JavaCPP wraps them, and as FFM finds them. */
@Platform(include = "native_calls.h")
final class JavacppCalls {

    private static final Path LIBRARY = Path.of(Loader.load(JavacppCalls.class));

    private JavacppCalls() {}

    /** The address of {@code farheap_empty}; FFM. */
    static MemorySegment empty() {
        return SymbolLookup.libraryLookup(LIBRARY, Arena.global()).findOrThrow("farheap_empty");
    }

    @Name("empty_by_address")
    static native long emptyByAddress(long a, long b, long c);

    @Name("empty_by_pointer")
    static native long emptyByPointer(Pointer a, Pointer b, Pointer c);

    @Name("poll_by_pointer")
    static native int pollByPointer(
            @Cast("ibv_cq*") ibv_cq completionQueue, int entries, @Cast("ibv_wc*") ibv_wc completions);
}
