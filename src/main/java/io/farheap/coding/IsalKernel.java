package io.farheap.coding;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** Intel's ISA-L, version 2.30 or later, if the machine has it: {@code libisal.so.2}. */
final class IsalKernel implements Kernel {

    private static final String LIBRARY = "libisal.so.2";

    /**
     * Calls with at most this many bytes in all are critical: they delay safepoints by no more than some microseconds.
     */
    private static final int CRITICAL_BYTES = 16 << 10;
    /** The alignment of addresses that its exclusive-or requires. */
    private static final int SUM_ALIGNMENT = 32;

    private static final FunctionDescriptor TABLES = FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final FunctionDescriptor ENCODE =
            FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor UPDATE =
            FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor SUM = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);

    private static final Optional<SymbolLookup> SYMBOLS = load();
    private static final MethodHandle MH$tables = bind("ec_init_tables", TABLES);
    private static final MethodHandle MH$encode = bind("ec_encode_data", ENCODE);
    private static final MethodHandle MH$encodeCritical = bind("ec_encode_data", ENCODE, Linker.Option.critical(false));
    private static final MethodHandle MH$update = bind("ec_encode_data_update", UPDATE);
    private static final MethodHandle MH$updateCritical =
            bind("ec_encode_data_update", UPDATE, Linker.Option.critical(false));
    private static final MethodHandle MH$sum = bind("xor_gen", SUM);
    private static final MethodHandle MH$sumCritical = bind("xor_gen", SUM, Linker.Option.critical(false));

    /** The addresses of the sources and, behind them, of the targets, in the form that the library takes. */
    private final MemorySegment pointers;

    private final long sourcePointers;

    /** @param arena must live as long as this object */
    IsalKernel(Arena arena) {
        pointers = arena.allocate(JAVA_LONG, ErasureCode.MOST_DATA + ErasureCode.MOST_DATA + ErasureCode.MOST_PARITY);
        sourcePointers = pointers.address();
    }

    /** Whether the machine has the library. */
    static boolean available() {
        return SYMBOLS.isPresent();
    }

    private static Optional<SymbolLookup> load() {
        try {
            return Optional.of(SymbolLookup.libraryLookup(LIBRARY, Arena.global()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static MethodHandle bind(String name, FunctionDescriptor function, Linker.Option... options) {
        return Linker.nativeLinker()
                .downcallHandle(
                        SYMBOLS.flatMap(symbols -> symbols.find(name)).orElse(MemorySegment.ofAddress(1)),
                        function,
                        options);
    }

    @Override
    public void prepare(Transform transform) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment factors = arena.allocate((long) transform.targets() * transform.sources());
            long at = 0;
            for (int[] row : transform.rows) {
                for (int factor : row) {
                    factors.set(JAVA_BYTE, at++, (byte) factor);
                }
            }
            MH$tables.invokeExact(transform.sources(), transform.targets(), factors, transform.tables);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void run(Transform transform, long[] sources, long[] targets, int bytes) {
        int sourceCount = transform.sources();
        int targetCount = transform.targets();
        long alignment = 0;
        for (int i = 0; i < sourceCount; i++) {
            pointers.setAtIndex(JAVA_LONG, i, sources[i]);
            alignment |= sources[i];
        }
        for (int i = 0; i < targetCount; i++) {
            pointers.setAtIndex(JAVA_LONG, sourceCount + i, targets[i]);
            alignment |= targets[i];
        }
        boolean critical = (long) bytes * (sourceCount + targetCount) <= CRITICAL_BYTES;
        try {
            if (transform.sum && sourceCount > 1 && (alignment & SUM_ALIGNMENT - 1) == 0) {
                int failed = critical
                        ? (int) MH$sumCritical.invokeExact(sourceCount + 1, bytes, sourcePointers)
                        : (int) MH$sum.invokeExact(sourceCount + 1, bytes, sourcePointers);
                assert failed == 0;
                return;
            }
            long targetPointers = sourcePointers + (long) sourceCount * Long.BYTES;
            long tables = transform.tables.address();
            if (critical) {
                MH$encodeCritical.invokeExact(bytes, sourceCount, targetCount, tables, sourcePointers, targetPointers);
            } else {
                MH$encode.invokeExact(bytes, sourceCount, targetCount, tables, sourcePointers, targetPointers);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void add(Transform transform, int source, long address, long[] targets, int bytes) {
        int targetCount = transform.targets();
        for (int i = 0; i < targetCount; i++) {
            pointers.setAtIndex(JAVA_LONG, i, targets[i]);
        }
        long tables = transform.tables.address();
        try {
            if ((long) bytes * (1 + targetCount) <= CRITICAL_BYTES) {
                MH$updateCritical.invokeExact(
                        bytes, transform.sources(), targetCount, source, tables, address, sourcePointers);
            } else {
                MH$update.invokeExact(bytes, transform.sources(), targetCount, source, tables, address, sourcePointers);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String toString() {
        return "ISA-L";
    }
}
