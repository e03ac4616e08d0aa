package io.farheap.procedure.translate.instruction;

import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A static method of the JDK that is admitted: it works on primitives, has no side effects, takes bounded time, and
 * throws nothing except for a division by zero, which translated code tests before the call.
 *
 * @param divisor the type of its last operand, if that must not be 0; else null
 */
public record PureMethod(
        ClassDesc owner,
        String name,
        MethodTypeDesc type,
        String effect,
        int fuel,
        @Nullable Type divisor) {

    private static final Map<String, PureMethod> ALL = new HashMap<>();
    private static final int COSTLY = 64;

    static {
        add("Math", 1, "abs", "(I)I", "(J)J", "(F)F", "(D)D");
        add("Math", 1, "min max", "(II)I", "(JJ)J", "(FF)F", "(DD)D");
        add("Math", 1, "copySign", "(FF)F", "(DD)D");
        add("Math", 1, "signum", "(F)F", "(D)D");
        add("Math", 2, "multiplyHigh unsignedMultiplyHigh", "(JJ)J");
        add("Math", 2, "multiplyFull", "(II)J");
        add("Math", 8, "sqrt ceil floor rint", "(D)D");
        add("Math", 8, "round", "(F)I", "(D)J");
        add("Math", 8, "ulp nextUp nextDown", "(F)F", "(D)D");
        add("Math", 8, "getExponent", "(F)I", "(D)I");
        add("Math", COSTLY, "sin cos tan asin acos atan exp expm1 log log10 log1p cbrt sinh cosh tanh", "(D)D");
        add("Math", COSTLY, "pow atan2 hypot", "(DD)D");
        divide("Math", "floorDiv ceilDiv", "(II)I", "(JI)J", "(JJ)J");
        divide("Math", "floorMod ceilMod", "(II)I", "(JI)I", "(JJ)J");
        add("Integer", 1, "min max sum compare", "(II)I");
        add("Integer", 2, "compareUnsigned rotateLeft rotateRight", "(II)I");
        add("Integer", 2, "compress expand", "(II)I");
        add("Integer", 2, "bitCount highestOneBit lowestOneBit numberOfLeadingZeros numberOfTrailingZeros", "(I)I");
        add("Integer", 2, "reverse reverseBytes signum hashCode", "(I)I");
        add("Integer", 1, "toUnsignedLong", "(I)J");
        divide("Integer", "divideUnsigned remainderUnsigned", "(II)I");
        add("Long", 1, "min max sum", "(JJ)J");
        add("Long", 2, "compare compareUnsigned", "(JJ)I");
        add("Long", 2, "rotateLeft rotateRight", "(JI)J");
        add("Long", 2, "compress expand", "(JJ)J");
        add("Long", 2, "bitCount numberOfLeadingZeros numberOfTrailingZeros signum hashCode", "(J)I");
        add("Long", 2, "highestOneBit lowestOneBit reverse reverseBytes", "(J)J");
        divide("Long", "divideUnsigned remainderUnsigned", "(JJ)J");
        add("Float", 1, "min max sum", "(FF)F");
        add("Float", 2, "compare", "(FF)I");
        add("Float", 1, "floatToIntBits floatToRawIntBits hashCode", "(F)I");
        add("Float", 1, "intBitsToFloat", "(I)F");
        add("Float", 2, "isNaN isInfinite isFinite", "(F)Z");
        add("Double", 1, "min max sum", "(DD)D");
        add("Double", 2, "compare", "(DD)I");
        add("Double", 1, "doubleToLongBits doubleToRawLongBits", "(D)J");
        add("Double", 1, "longBitsToDouble", "(J)D");
        add("Double", 1, "hashCode", "(D)I");
        add("Double", 2, "isNaN isInfinite isFinite", "(D)Z");
    }

    private static void add(String owner, int fuel, String names, String... descriptors) {
        add(owner, fuel, false, names, descriptors);
    }

    private static void divide(String owner, String names, String... descriptors) {
        add(owner, 8, true, names, descriptors);
    }

    private static void add(String owner, int fuel, boolean divides, String names, String... descriptors) {
        for (String name : names.split(" ", -1)) {
            for (String descriptor : descriptors) {
                MethodTypeDesc type = MethodTypeDesc.ofDescriptor(descriptor);
                Type divisor = divides ? Type.of(type.parameterType(1)) : null;
                ClassDesc declared = ClassDesc.of("java.lang", owner);
                ALL.put(
                        key("java/lang/".concat(owner), name, descriptor),
                        new PureMethod(declared, name, type, CallMethod.effect(type), fuel, divisor));
            }
        }
    }

    private static String key(String owner, String name, String descriptor) {
        return owner.concat(".").concat(name).concat(descriptor);
    }

    /** The method, or null if it is not admitted. */
    public static @Nullable PureMethod find(String owner, String name, String descriptor) {
        return ALL.get(key(owner, name, descriptor));
    }

    /** For tests. */
    public static Iterable<PureMethod> all() {
        return ALL.values();
    }
}
