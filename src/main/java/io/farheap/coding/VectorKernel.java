package io.farheap.coding;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;
import org.jspecify.annotations.Nullable;

/**
 * Multiplies by two look-ups in tables of sixteen products, one for each half of a byte, for all bytes of a vector at
 * once, as native libraries do it (Plank, Greenan, Miller, FAST '13). Each vector of a source is read once for two
 * targets. It works only in a JVM that was started with {@code --add-modules jdk.incubator.vector}: only
 * {@link CodingLibrary} names this class, and the JVM loads it only then.
 */
final class VectorKernel implements Kernel {

    private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
    /** At least 16 on every processor that the JVM compiles vectors for. */
    private static final int LANES = SPECIES.length();
    /**
     * The bytes of a factor's two tables, of the products of the lower and of the upper halves; each is repeated to
     * fill a vector.
     */
    private static final int TABLE_BYTES = 2 * LANES;

    private static final int HALF_BITS = 4;
    private static final int HALF = (1 << HALF_BITS) - 1;
    private static final byte LOW = HALF;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    @Override
    public void prepare(Transform transform) {
        byte[] products = new byte[transform.targets() * transform.sources() * TABLE_BYTES];
        int at = 0;
        for (int[] row : transform.rows) {
            for (int factor : row) {
                for (int half = 0; half <= HALF; half++) {
                    products[at + half] = (byte) GaloisField.multiply(factor, half);
                    products[at + LANES + half] = (byte) GaloisField.multiply(factor, half << HALF_BITS);
                }
                for (int lane = HALF + 1; lane < LANES; lane += HALF + 1) {
                    System.arraycopy(products, at, products, at + lane, HALF + 1);
                    System.arraycopy(products, at + LANES, products, at + LANES + lane, HALF + 1);
                }
                at += TABLE_BYTES;
            }
        }
        transform.products = products;
    }

    @Override
    public void run(Transform transform, long[] sources, long[] targets, int bytes) {
        byte[] products = products(transform);
        int count = transform.sources();
        int whole = bytes - bytes % LANES;
        if (transform.sum) {
            sum(sources, count, targets[0], whole);
        } else {
            int row = count * TABLE_BYTES;
            int target = 0;
            for (; target + 1 < transform.targets(); target += 2) {
                two(products, target * row, row, sources, count, targets[target], targets[target + 1], whole);
            }
            if (target < transform.targets()) {
                one(products, target * row, sources, count, targets[target], whole);
            }
        }
        for (int target = 0; target < transform.targets() && whole < bytes; target++) {
            rest(transform.rows[target], sources, targets[target], whole, bytes);
        }
    }

    private static ByteVector at(long address) {
        return ByteVector.fromMemorySegment(SPECIES, ALL, address, ORDER);
    }

    private static ByteVector times(byte[] products, int table, ByteVector low, ByteVector high) {
        return low.selectFrom(ByteVector.fromArray(SPECIES, products, table))
                .lanewise(VectorOperators.XOR, high.selectFrom(ByteVector.fromArray(SPECIES, products, table + LANES)));
    }

    /** The upper halves, as numbers from 0 to 15. */
    private static ByteVector high(ByteVector vector) {
        return vector.lanewise(VectorOperators.LSHR, HALF_BITS);
    }

    private static void sum(long[] sources, int count, long target, int bytes) {
        for (int i = 0; i < bytes; i += LANES) {
            ByteVector sum = at(sources[0] + i);
            for (int source = 1; source < count; source++) {
                sum = sum.lanewise(VectorOperators.XOR, at(sources[source] + i));
            }
            sum.intoMemorySegment(ALL, target + i, ORDER);
        }
    }

    private static void one(byte[] products, int table, long[] sources, int count, long target, int bytes) {
        for (int i = 0; i < bytes; i += LANES) {
            ByteVector sum = ByteVector.zero(SPECIES);
            for (int source = 0; source < count; source++) {
                ByteVector vector = at(sources[source] + i);
                ByteVector product = times(
                        products,
                        table + source * TABLE_BYTES,
                        vector.lanewise(VectorOperators.AND, LOW),
                        high(vector));
                sum = sum.lanewise(VectorOperators.XOR, product);
            }
            sum.intoMemorySegment(ALL, target + i, ORDER);
        }
    }

    /** @param row how far the second target's tables are behind the first's */
    private static void two(
            byte[] products, int table, int row, long[] sources, int count, long first, long second, int bytes) {
        for (int i = 0; i < bytes; i += LANES) {
            ByteVector one = ByteVector.zero(SPECIES);
            ByteVector other = ByteVector.zero(SPECIES);
            for (int source = 0; source < count; source++) {
                ByteVector vector = at(sources[source] + i);
                ByteVector low = vector.lanewise(VectorOperators.AND, LOW);
                ByteVector high = high(vector);
                int place = table + source * TABLE_BYTES;
                one = one.lanewise(VectorOperators.XOR, times(products, place, low, high));
                other = other.lanewise(VectorOperators.XOR, times(products, place + row, low, high));
            }
            one.intoMemorySegment(ALL, first + i, ORDER);
            other.intoMemorySegment(ALL, second + i, ORDER);
        }
    }

    /** Handles the bytes behind the last whole vector. */
    private static void rest(int[] row, long[] sources, long target, int from, int bytes) {
        for (int i = from; i < bytes; i++) {
            int sum = 0;
            for (int source = 0; source < row.length; source++) {
                sum ^= GaloisField.multiply(row[source], ALL.get(ValueLayout.JAVA_BYTE, sources[source] + i) & 0xFF);
            }
            ALL.set(ValueLayout.JAVA_BYTE, target + i, (byte) sum);
        }
    }

    @Override
    public void add(Transform transform, int source, long address, long[] targets, int bytes) {
        byte[] products = products(transform);
        int whole = bytes - bytes % LANES;
        for (int target = 0; target < transform.targets(); target++) {
            int table = (target * transform.sources() + source) * TABLE_BYTES;
            addVectors(products, table, address, targets[target], whole);
            if (whole < bytes) {
                addRest(transform.rows[target][source], address, targets[target], whole, bytes);
            }
        }
    }

    // These loops are methods of their own: as loops in a loop the JVM was seen to leave them to its interpreter, in
    // which vectors are objects.
    private static void addVectors(byte[] products, int table, long address, long target, int bytes) {
        for (int i = 0; i < bytes; i += LANES) {
            ByteVector vector = at(address + i);
            at(target + i)
                    .lanewise(
                            VectorOperators.XOR,
                            times(products, table, vector.lanewise(VectorOperators.AND, LOW), high(vector)))
                    .intoMemorySegment(ALL, target + i, ORDER);
        }
    }

    private static void addRest(int factor, long address, long target, int from, int bytes) {
        for (int i = from; i < bytes; i++) {
            int change = ALL.get(ValueLayout.JAVA_BYTE, address + i) & 0xFF;
            int was = ALL.get(ValueLayout.JAVA_BYTE, target + i);
            ALL.set(ValueLayout.JAVA_BYTE, target + i, (byte) (was ^ GaloisField.multiply(factor, change)));
        }
    }

    private static byte[] products(Transform transform) {
        byte @Nullable [] products = transform.products;
        if (products == null) {
            throw new IllegalStateException("a transform of another kernel");
        }
        return products;
    }

    @Override
    public String toString() {
        return "Java vectors";
    }
}
