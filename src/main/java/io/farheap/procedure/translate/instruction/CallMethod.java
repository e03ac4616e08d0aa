package io.farheap.procedure.translate.instruction;

import java.lang.constant.MethodTypeDesc;
import org.jspecify.annotations.Nullable;

/** The methods of {@code Call}, each with its kind, its length and its fuel. */
public enum CallMethod {
    ARGUMENT_BYTES("argumentBytes", "()I", Kind.FIELD, 4),
    RESULT_CAPACITY("resultCapacity", "()I", Kind.FIELD, 4),
    ARGUMENT("argument", "(I)J", Kind.ARGUMENT, 8),
    ARGUMENT_INT("argumentInt", "(I)I", Kind.ARGUMENT, 4),
    ARGUMENT_BYTE("argumentByte", "(I)B", Kind.ARGUMENT, 1),
    RESULT("result", "(IJ)V", Kind.RESULT, 8),
    RESULT_INT("resultInt", "(II)V", Kind.RESULT, 4),
    RESULT_BYTE("resultByte", "(IB)V", Kind.RESULT, 1),
    SCRATCH("scratch", "(I)J", Kind.SCRATCH_GET, 8),
    SCRATCH_INT("scratchInt", "(I)I", Kind.SCRATCH_GET, 4),
    SCRATCH_BYTE("scratchByte", "(I)B", Kind.SCRATCH_GET, 1),
    SET_SCRATCH("scratch", "(IJ)V", Kind.SCRATCH_SET, 8),
    SET_SCRATCH_INT("scratchInt", "(II)V", Kind.SCRATCH_SET, 4),
    SET_SCRATCH_BYTE("scratchByte", "(IB)V", Kind.SCRATCH_SET, 1),
    RESULT_FROM_SCRATCH("resultFromScratch", "(III)V", Kind.COPY_RESULT, 0),
    GET_BYTE("getByte", "(J)B", Kind.GET, 1),
    GET_SHORT("getShort", "(J)S", Kind.GET, 2),
    GET_INT("getInt", "(J)I", Kind.GET, 4),
    GET_LONG("getLong", "(J)J", Kind.GET, 8),
    PUT_BYTE("putByte", "(JB)V", Kind.PUT, 1),
    PUT_SHORT("putShort", "(JS)V", Kind.PUT, 2),
    PUT_INT("putInt", "(JI)V", Kind.PUT, 4),
    PUT_LONG("putLong", "(JJ)V", Kind.PUT, 8),
    COMPARE_AND_SET("compareAndSet", "(JJJ)Z", Kind.ATOMIC, 8),
    GET_AND_ADD("getAndAdd", "(JJ)J", Kind.ATOMIC, 8),
    COMPARE_AND_SET_ALL("compareAndSetAll", "(II)Z", Kind.ATOMIC, 0),
    COPY_TO_SCRATCH("copyToScratch", "(JII)V", Kind.COPY, 0),
    COPY_FROM_SCRATCH("copyFromScratch", "(IJI)V", Kind.COPY, 0);

    /** How a method is woven; the number is its fuel. */
    public enum Kind {
        FIELD(1),
        ARGUMENT(2),
        RESULT(3),
        SCRATCH_GET(2),
        SCRATCH_SET(3),
        COPY_RESULT(8),
        GET(4),
        PUT(4),
        ATOMIC(32),
        COPY(16);

        private final int fuel;

        Kind(int fuel) {
            this.fuel = fuel;
        }
    }

    public final String name;
    final String descriptor;
    public final Kind kind;
    /** Length of the value. */
    public final int bytes;
    /** The operands that it pops and pushes, in the letters of {@link StackEffects}. */
    public final String effect;
    /** Fuel without that of copied bytes. */
    final int fuel;

    CallMethod(String name, String descriptor, Kind kind, int bytes) {
        this.name = name;
        this.descriptor = descriptor;
        this.kind = kind;
        this.bytes = bytes;
        this.effect = "C".concat(effect(MethodTypeDesc.ofDescriptor(descriptor)));
        this.fuel = kind.fuel;
    }

    /** The effect of a method whose types are all in the subset. */
    static String effect(MethodTypeDesc type) {
        StringBuilder effect = new StringBuilder();
        type.parameterList().forEach(parameter -> effect.append(letter(Type.of(parameter))));
        return effect.append('>').append(letter(Type.of(type.returnType()))).toString();
    }

    private static String letter(@Nullable Type type) {
        return type == null ? "" : String.valueOf(type.letter);
    }

    /** Whether it accesses the cache; such a call is a resume point. */
    public boolean accesses() {
        return switch (kind) {
            case GET, PUT, ATOMIC, COPY -> true;
            default -> false;
        };
    }

    /** Whether it may write to the cache. */
    public boolean writes() {
        return kind == Kind.PUT || kind == Kind.ATOMIC || this == COPY_FROM_SCRATCH;
    }

    /** The method, or null. */
    public static @Nullable CallMethod find(String name, String descriptor) {
        for (CallMethod method : values()) {
            if (method.name.equals(name) && method.descriptor.equals(descriptor)) {
                return method;
            }
        }
        return null;
    }
}
