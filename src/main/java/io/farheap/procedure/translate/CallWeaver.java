package io.farheap.procedure.translate;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/**
 * Writes what calls of {@code Call} become. A load or store compares its address with the window and, where it is in
 * it, masks it and adds the region's address; where it is not, {@link Frame#move} moves the window, or the code leaves
 * and goes on with {@link TranslatedCode#step}, in which {@link Frame#locate} does that and all else.
 */
final class CallWeaver {

    private static final ClassDesc FRAME = MethodWeaver.FRAME;
    private static final int FRAME_SLOT = MethodWeaver.FRAME_SLOT;
    private static final ClassDesc WORDS = ClassDesc.of("io.farheap.procedure.translate.Words");
    private static final ClassDesc ATOMICS = ClassDesc.of("io.farheap.procedure.translate.Atomics");
    private static final ClassDesc COPIES = ClassDesc.of("io.farheap.procedure.translate.Copies");

    private final MethodWeaver weaver;

    CallWeaver(MethodWeaver weaver) {
        this.weaver = weaver;
    }

    /** What does not go to the cache. On the stack: the frame, and the method's arguments. */
    void local(CallMethod method, int line) {
        CodeBuilder code = weaver.code;
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
                weaver.end("end", line);
                code.labelBinding(copied);
                charge();
            }
            default -> throw new IllegalStateException(method + " goes to the cache");
        }
    }

    private void get(String check, CallMethod method, int line) {
        check(check, method, line);
        ClassDesc found = value(method);
        weaver.code.invokestatic(
                WORDS,
                method.name,
                MethodTypeDesc.of(method.bytes == 1 ? ConstantDescs.CD_byte : found, FRAME, CD_int));
    }

    private void set(String check, CallMethod method, int line) {
        boolean wide = method.bytes == 8;
        if (wide) {
            weaver.code.lstore(MethodWeaver.VALUE_SLOT);
        } else {
            weaver.code.istore(MethodWeaver.INT_SLOT);
        }
        check(check, method, line);
        loadValue(wide);
        weaver.code.invokestatic(WORDS, method.name, MethodTypeDesc.of(CD_void, FRAME, CD_int, value(method)));
    }

    private void check(String check, CallMethod method, int line) {
        CodeBuilder code = weaver.code;
        Label allowed = code.newLabel();
        code.dup2()
                .loadConstant(method.bytes)
                .invokestatic(WORDS, check, MethodTypeDesc.of(CD_int, FRAME, CD_int, CD_int))
                .ifge(allowed);
        weaver.end("end", line);
        code.labelBinding(allowed);
    }

    private static ClassDesc value(CallMethod method) {
        return method.bytes == 8 ? CD_long : CD_int;
    }

    private void loadValue(boolean wide) {
        if (wide) {
            weaver.code.lload(MethodWeaver.VALUE_SLOT);
        } else {
            weaver.code.iload(MethodWeaver.INT_SLOT);
        }
    }

    /** What goes to the cache. On the stack: the point's operands, the frame, and the method's arguments. */
    void access(CallMethod method, Program.Point point) {
        switch (method.kind) {
            case GET -> load(method, point);
            case PUT -> store(method, point);
            default -> helped(method, point);
        }
    }

    private void load(CallMethod method, Program.Point point) {
        CodeBuilder code = weaver.code;
        place(method, Context.READ, () -> weaver.leave(point));
        ClassDesc found =
                switch (method.bytes) {
                    case 1 -> ConstantDescs.CD_byte;
                    case 2 -> ConstantDescs.CD_short;
                    case 4 -> CD_int;
                    default -> CD_long;
                };
        code.invokestatic(WORDS, method.name, MethodTypeDesc.of(found, CD_long));
    }

    private void store(CallMethod method, Program.Point point) {
        CodeBuilder code = weaver.code;
        boolean wide = method.bytes == 8;
        if (wide) {
            code.lstore(MethodWeaver.VALUE_SLOT);
        } else {
            code.istore(MethodWeaver.INT_SLOT);
        }
        place(method, Context.WRITE, () -> {
            code.aload(FRAME_SLOT);
            loadValue(wide);
            if (!wide) {
                code.i2l();
            }
            code.putfield(FRAME, "value", CD_long);
            weaver.leave(point);
        });
        loadValue(wide);
        code.invokestatic(WORDS, method.name, MethodTypeDesc.of(CD_void, CD_long, value(method)));
    }

    /** From the frame and an address on the stack to a native address. */
    private void place(CallMethod method, int kind, Runnable leaving) {
        CodeBuilder code = weaver.code;
        Label miss = code.newLabel();
        Label found = code.newLabel();
        code.lstore(MethodWeaver.ADDRESS_SLOT)
                .pop()
                .lload(MethodWeaver.ADDRESS_SLOT)
                .lload(MethodWeaver.WINDOW_SLOT)
                .lsub()
                .lload(MethodWeaver.WINDOW_BYTES_SLOT)
                .invokestatic(ConstantDescs.CD_Long, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long))
                .ifge(miss)
                .lload(MethodWeaver.ADDRESS_SLOT)
                .lload(MethodWeaver.MASK_SLOT)
                .land()
                .lload(MethodWeaver.BASE_SLOT)
                .ladd()
                .labelBinding(found);
        weaver.behind(() -> {
            Label leave = code.newLabel();
            code.labelBinding(miss).aload(FRAME_SLOT).lload(MethodWeaver.ADDRESS_SLOT);
            if (weaver.stepping) {
                code.loadConstant(method.bytes)
                        .loadConstant(kind)
                        .invokevirtual(FRAME, "locate", MethodTypeDesc.of(CD_long, CD_long, CD_int, CD_int));
            } else {
                code.invokestatic(FRAME, "move", MethodTypeDesc.of(CD_long, FRAME, CD_long));
            }
            code.dup2().lconst_0().lcmp().ifeq(leave);
            weaver.loadWindow();
            code.goto_(found).labelBinding(leave).pop2();
            leaving.run();
        });
    }

    /** By a method that answers below 0 where the code is to leave. */
    private void helped(CallMethod method, Program.Point point) {
        CodeBuilder code = weaver.code;
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
        weaver.behind(() -> {
            code.labelBinding(leave).pop();
            weaver.leave(point);
        });
        if (method == CallMethod.GET_AND_ADD) {
            code.pop();
            weaver.field("found", TypeKind.LONG);
        } else if (method.kind == CallMethod.Kind.COPY) {
            charge();
        }
    }

    /** An int of fuel that is on the stack. */
    private void charge() {
        weaver.code.iload(MethodWeaver.FUEL_SLOT).swap().isub().istore(MethodWeaver.FUEL_SLOT);
    }

    /** Pushes what an access was about to pop when the code left. */
    void pushOperands(CallMethod method) {
        weaver.code.aload(FRAME_SLOT);
        switch (method) {
            case COMPARE_AND_SET -> {
                weaver.field("address", TypeKind.LONG);
                weaver.field("expected", TypeKind.LONG);
                weaver.field("value", TypeKind.LONG);
            }
            case GET_AND_ADD -> {
                weaver.field("address", TypeKind.LONG);
                weaver.field("value", TypeKind.LONG);
            }
            case COMPARE_AND_SET_ALL -> {
                weaver.field("scratchAt", TypeKind.INT);
                weaver.field("count", TypeKind.INT);
            }
            case COPY_TO_SCRATCH -> {
                weaver.field("address", TypeKind.LONG);
                weaver.field("scratchAt", TypeKind.INT);
                weaver.field("count", TypeKind.INT);
            }
            case COPY_FROM_SCRATCH -> {
                weaver.field("scratchAt", TypeKind.INT);
                weaver.field("address", TypeKind.LONG);
                weaver.field("count", TypeKind.INT);
            }
            default -> {
                weaver.field("address", TypeKind.LONG);
                if (method.kind == CallMethod.Kind.PUT) {
                    weaver.field("value", TypeKind.LONG);
                    if (method.bytes < 8) {
                        weaver.code.l2i();
                    }
                }
            }
        }
    }
}
