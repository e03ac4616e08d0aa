package io.farheap.procedure.translate.weaving;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.farheap.procedure.translate.instruction.CallMethod;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.procedure.translate.running.CallFrame;
import io.farheap.procedure.translate.running.ProcedureAtomics;
import io.farheap.procedure.translate.running.ProcedureCopies;
import io.farheap.procedure.translate.running.ProcedureMemory;
import io.farheap.procedure.translate.running.TranslatedCode;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/**
 * Writes the code for calls of {@code Call}'s methods. A load or store compares its address with the window. If it is
 * in the window, the code masks it and adds the region's native address. If not, {@link CallFrame#move} moves the
 * window; if that cannot be done simply, the code leaves and continues with {@link TranslatedCode#step}, in which
 * {@link CallFrame#locate} handles all cases.
 */
abstract class CallWeaver {

    /** The class that is written. It is in its superclass's package, where it is loaded. */
    static final ClassDesc PROCEDURE = ClassDesc.of(TranslatedCode.class.getPackageName(), "Procedure");

    static final ClassDesc FRAME = CallFrame.class.describeConstable().orElseThrow();
    /** Local variables of the written method; those of the procedure begin at {@link #FIRST_SLOT}. */
    static final int FRAME_SLOT = 1;

    /** At first the resume point; later an int that is to be stored. */
    static final int INT_SLOT = 2;

    static final int FUEL_SLOT = 3;
    static final int WINDOW_SLOT = 4;
    static final int WINDOW_BYTES_SLOT = 6;
    static final int BASE_SLOT = 8;
    static final int MASK_SLOT = 10;
    static final int ADDRESS_SLOT = 12;
    static final int VALUE_SLOT = 14;
    /** When fuel falls below this value, the next head of a prechecked loop attempts to count turns. */
    static final int TRY_SLOT = 16;

    static final int TURN_SLOT = 17;
    static final int TURNS_SLOT = 18;
    static final int FIRST_SLOT = 19;

    private static final ClassDesc WORDS =
            ProcedureMemory.class.describeConstable().orElseThrow();
    private static final ClassDesc ATOMICS =
            ProcedureAtomics.class.describeConstable().orElseThrow();
    private static final ClassDesc COPIES =
            ProcedureCopies.class.describeConstable().orElseThrow();

    final CodeBuilder code;
    /** Whether the method that is written is {@link TranslatedCode#step}. */
    final boolean stepping;

    CallWeaver(CodeBuilder code, boolean stepping) {
        this.code = code;
        this.stepping = stepping;
    }

    /** Writes code that saves the point's operands and variables, and returns. */
    abstract void leave(LinkedProcedure.Point point);

    /** Writes code that returns the result of a method of {@link CallFrame}, with the line. */
    abstract void end(String how, int line);

    abstract void loadWindow();

    /** Whether the code that is written is that of counted turns, which needs no comparison with the window. */
    abstract boolean checked();

    /** Pushes the native address of an access in counted turns. */
    abstract void checkedPlace();

    /** Writes code that is seldom run after the rest of the method. */
    abstract void behind(Runnable weaving);

    /** Pushes a field of the frame. */
    abstract void field(String name, TypeKind kind);

    /** Writes a call that does not access the cache. On the stack: the frame, and the method's arguments. */
    void local(CallMethod method, int line) {
        switch (method.kind) {
            case FIELD -> code.getfield(FRAME, method.name, CD_int);
            case ARGUMENT -> get("checkArgument", method, line);
            case SCRATCH_GET -> get("checkScratch", method, line);
            case RESULT -> set("checkResult", method, line);
            case SCRATCH_SET -> set("checkScratchSet", method, line);
            case COPY_RESULT -> {
                code.invokestatic(COPIES, "toResult", MethodTypeDesc.of(CD_int, FRAME, CD_int, CD_int, CD_int));
                Label copied = code.newLabel();
                code.dup().ifge(copied);
                end("end", line);
                code.labelBinding(copied);
                charge();
            }
            default -> throw new IllegalStateException(method + " goes to the cache");
        }
    }

    private void get(String check, CallMethod method, int line) {
        check(check, method, line);
        ClassDesc found = value(method);
        code.invokestatic(
                WORDS,
                method.name,
                MethodTypeDesc.of(method.bytes == 1 ? ConstantDescs.CD_byte : found, FRAME, CD_int));
    }

    private void set(String check, CallMethod method, int line) {
        boolean wide = method.bytes == 8;
        if (wide) {
            code.lstore(VALUE_SLOT);
        } else {
            code.istore(INT_SLOT);
        }
        check(check, method, line);
        loadValue(wide);
        code.invokestatic(WORDS, method.name, MethodTypeDesc.of(CD_void, FRAME, CD_int, value(method)));
    }

    private void check(String check, CallMethod method, int line) {
        Label allowed = code.newLabel();
        code.dup2()
                .loadConstant(method.bytes)
                .invokestatic(WORDS, check, MethodTypeDesc.of(CD_int, FRAME, CD_int, CD_int))
                .ifge(allowed);
        end("end", line);
        code.labelBinding(allowed);
    }

    private static ClassDesc value(CallMethod method) {
        return method.bytes == 8 ? CD_long : CD_int;
    }

    private void loadValue(boolean wide) {
        if (wide) {
            code.lload(VALUE_SLOT);
        } else {
            code.iload(INT_SLOT);
        }
    }

    /** Writes an access to the cache. On the stack: the point's operands, the frame, and the method's arguments. */
    void access(CallMethod method, LinkedProcedure.Point point) {
        switch (method.kind) {
            case GET -> load(method, point);
            case PUT -> store(method, point);
            default -> helped(method, point);
        }
    }

    private void load(CallMethod method, LinkedProcedure.Point point) {
        place(method, CallContext.READ, () -> leave(point));
        ClassDesc found =
                switch (method.bytes) {
                    case 1 -> ConstantDescs.CD_byte;
                    case 2 -> ConstantDescs.CD_short;
                    case 4 -> CD_int;
                    default -> CD_long;
                };
        code.invokestatic(WORDS, method.name, MethodTypeDesc.of(found, CD_long));
    }

    private void store(CallMethod method, LinkedProcedure.Point point) {
        boolean wide = method.bytes == 8;
        if (wide) {
            code.lstore(VALUE_SLOT);
        } else {
            code.istore(INT_SLOT);
        }
        place(method, CallContext.WRITE, () -> {
            code.aload(FRAME_SLOT);
            loadValue(wide);
            if (!wide) {
                code.i2l();
            }
            code.putfield(FRAME, "value", CD_long);
            leave(point);
        });
        loadValue(wide);
        code.invokestatic(WORDS, method.name, MethodTypeDesc.of(CD_void, CD_long, value(method)));
    }

    /** Replaces the frame and the address on the stack by the native address. */
    private void place(CallMethod method, int kind, Runnable leaving) {
        Label miss = code.newLabel();
        Label inWindow = code.newLabel();
        Label found = code.newLabel();
        code.lstore(ADDRESS_SLOT).pop();
        if (checked()) {
            checkedPlace();
            return;
        }
        code.lload(ADDRESS_SLOT)
                .lload(WINDOW_SLOT)
                .lsub()
                .lload(WINDOW_BYTES_SLOT)
                .invokestatic(ConstantDescs.CD_Long, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long))
                .ifge(miss)
                .labelBinding(inWindow)
                .lload(ADDRESS_SLOT)
                .lload(MASK_SLOT)
                .land()
                .lload(BASE_SLOT)
                .ladd()
                .labelBinding(found);
        behind(() -> {
            Label leave = code.newLabel();
            code.labelBinding(miss).aload(FRAME_SLOT).lload(ADDRESS_SLOT);
            if (stepping) {
                code.loadConstant(method.bytes)
                        .loadConstant(kind)
                        .invokevirtual(FRAME, "locate", MethodTypeDesc.of(CD_long, CD_long, CD_int, CD_int));
            } else {
                code.invokestatic(FRAME, "move", MethodTypeDesc.of(CD_long, FRAME, CD_long));
            }
            code.dup2().lconst_0().lcmp().ifeq(leave);
            if (stepping) {
                loadWindow();
                code.goto_(found);
            } else {
                code.pop2();
                loadWindow();
                // Continues before the sum, not after it, so that HotSpot folds the sum into the load's address.
                code.goto_(inWindow);
            }
            code.labelBinding(leave).pop2();
            leaving.run();
        });
    }

    /** Writes a call of a helper; it returns a value below 0 if the code must leave. */
    private void helped(CallMethod method, LinkedProcedure.Point point) {
        switch (method) {
            case COMPARE_AND_SET ->
                code.invokestatic(ATOMICS, method.name, MethodTypeDesc.of(CD_int, FRAME, CD_long, CD_long, CD_long));
            case GET_AND_ADD ->
                code.invokestatic(ATOMICS, method.name, MethodTypeDesc.of(CD_int, FRAME, CD_long, CD_long));
            case COMPARE_AND_SET_ALL ->
                code.invokestatic(ATOMICS, method.name, MethodTypeDesc.of(CD_int, FRAME, CD_int, CD_int));
            case COPY_TO_SCRATCH ->
                code.invokestatic(COPIES, "toScratch", MethodTypeDesc.of(CD_int, FRAME, CD_long, CD_int, CD_int));
            case COPY_FROM_SCRATCH ->
                code.invokestatic(COPIES, "fromScratch", MethodTypeDesc.of(CD_int, FRAME, CD_int, CD_long, CD_int));
            default -> throw new IllegalStateException(method + " has no helper");
        }
        Label leave = code.newLabel();
        code.dup().iflt(leave);
        behind(() -> {
            code.labelBinding(leave).pop();
            leave(point);
        });
        if (method == CallMethod.GET_AND_ADD) {
            code.pop();
            field("found", TypeKind.LONG);
        } else if (method.kind == CallMethod.Kind.COPY) {
            charge();
        }
    }

    /** Subtracts the int on the stack from fuel. */
    private void charge() {
        code.iload(FUEL_SLOT).swap().isub().istore(FUEL_SLOT);
    }

    /** Pushes the arguments of an access again, which it was about to pop when the code left. */
    void pushOperands(CallMethod method) {
        code.aload(FRAME_SLOT);
        switch (method) {
            case COMPARE_AND_SET -> {
                field("address", TypeKind.LONG);
                field("expected", TypeKind.LONG);
                field("value", TypeKind.LONG);
            }
            case GET_AND_ADD -> {
                field("address", TypeKind.LONG);
                field("value", TypeKind.LONG);
            }
            case COMPARE_AND_SET_ALL -> {
                field("scratchAt", TypeKind.INT);
                field("count", TypeKind.INT);
            }
            case COPY_TO_SCRATCH -> {
                field("address", TypeKind.LONG);
                field("scratchAt", TypeKind.INT);
                field("count", TypeKind.INT);
            }
            case COPY_FROM_SCRATCH -> {
                field("scratchAt", TypeKind.INT);
                field("address", TypeKind.LONG);
                field("count", TypeKind.INT);
            }
            default -> {
                field("address", TypeKind.LONG);
                if (method.kind == CallMethod.Kind.PUT) {
                    field("value", TypeKind.LONG);
                    if (method.bytes < 8) {
                        code.l2i();
                    }
                }
            }
        }
    }
}
