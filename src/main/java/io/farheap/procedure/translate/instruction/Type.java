package io.farheap.procedure.translate.instruction;

import io.farheap.procedure.Call;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import org.jspecify.annotations.Nullable;

/** Type of a value in a procedure. In translated code a {@code Call} is the frame. */
public enum Type {
    INT('I', TypeKind.INT),
    LONG('J', TypeKind.LONG),
    FLOAT('F', TypeKind.FLOAT),
    DOUBLE('D', TypeKind.DOUBLE),
    CALL('C', TypeKind.REFERENCE);

    public static final ClassDesc CALL_CLASS = Call.class.describeConstable().orElseThrow();

    public final char letter;
    public final TypeKind kind;

    Type(char letter, TypeKind kind) {
        this.letter = letter;
        this.kind = kind;
    }

    /** Whether it takes two words of local variables or of the operand stack. */
    public boolean wide() {
        return this == LONG || this == DOUBLE;
    }

    public int words() {
        return wide() ? 2 : 1;
    }

    public static Type of(char letter) {
        return switch (letter) {
            case 'I' -> INT;
            case 'J' -> LONG;
            case 'F' -> FLOAT;
            case 'D' -> DOUBLE;
            default -> CALL;
        };
    }

    /** The type, or null for a kind that is not a value. */
    public static @Nullable Type of(TypeKind kind) {
        return switch (kind.asLoadable()) {
            case INT -> INT;
            case LONG -> LONG;
            case FLOAT -> FLOAT;
            case DOUBLE -> DOUBLE;
            case REFERENCE -> CALL;
            default -> null;
        };
    }

    /** The type, or null for a class that is not in the subset, and for void. */
    public static @Nullable Type of(ClassDesc type) {
        if (type.isPrimitive()) {
            return of(TypeKind.from(type));
        }
        return type.equals(CALL_CLASS) ? CALL : null;
    }
}
