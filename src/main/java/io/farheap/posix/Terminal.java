package io.farheap.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Properties of the terminal behind a descriptor. Any thread may call. */
public final class Terminal {

    private static final long TIOCGWINSZ = 0x5413;
    /** struct winsize: rows, columns, and the same in pixels. */
    private static final long WINSIZE_BYTES = 4 * Short.BYTES;

    private static final MethodHandle MH$ioctl = Posix.bindPlain(
            "ioctl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ValueLayout.ADDRESS),
            Linker.Option.firstVariadicArg(2));

    private Terminal() {}

    /**
     * The number of characters in a line of the terminal; 0 if the descriptor is no terminal, or its width is not
     * known.
     */
    public static int columns(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(WINSIZE_BYTES, Short.BYTES);
            int result = (int) MH$ioctl.invokeExact(fd, TIOCGWINSZ, size);
            return result < 0 ? 0 : Short.toUnsignedInt(size.get(JAVA_SHORT, Short.BYTES));
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }
}
