package io.farheap.procedure.translate.instruction;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Writes expressions, and knows the local variables of a method. */
abstract class ExpressionGenerator {

    /** The pure methods but those for which Java leaves the sign or the bits of a NaN open. */
    private static final List<PureMethod> PURE = new ArrayList<>();

    static {
        for (PureMethod method : PureMethod.all()) {
            if (!method.name().contains("Raw") && !method.name().equals("copySign")) {
                PURE.add(method);
            }
        }
        PURE.sort((a, b) -> (a.owner().descriptorString() + a.name() + a.type())
                .compareTo(b.owner().descriptorString() + b.name() + b.type()));
    }

    final Random random;
    final CodeBuilder code;
    private final List<ClassGenerator.Own> own;
    private final Map<Type, List<Integer>> variables = new EnumMap<>(Type.class);
    private final List<MethodGenerator.Loop> loops = new ArrayList<>();
    private int slots = 1;

    ExpressionGenerator(Random random, CodeBuilder code, List<ClassGenerator.Own> own, List<Type> parameters) {
        this.random = random;
        this.code = code;
        this.own = own;
        ClassGenerator.TYPES.forEach(type -> variables.put(type, new ArrayList<>()));
        parameters.forEach(this::allocate);
    }

    /** A variable that statements may assign to. */
    int allocate(Type type) {
        int slot = reserve(type);
        variables.get(type).add(slot);
        return slot;
    }

    int reserve(Type type) {
        int slot = slots;
        slots += type.words();
        return slot;
    }

    int any(Type type) {
        List<Integer> all = variables.get(type);
        return all.get(random.nextInt(all.size()));
    }

    /** Forgets a loop and the words that were reserved for it, so that later loops use them again. */
    void forget(MethodGenerator.Loop loop) {
        loops.remove(loop);
        slots = loop.counter();
    }

    void addresses(MethodGenerator.Loop loop) {
        loops.add(loop);
    }

    void store(Type type, int slot) {
        code.storeLocal(type.kind, slot);
    }

    void constant(Type type) {
        switch (type) {
            case INT -> code.loadConstant(random.nextBoolean() ? random.nextInt(100) - 20 : random.nextInt());
            case LONG -> code.loadConstant(random.nextBoolean() ? random.nextInt(9000) - 99L : random.nextLong());
            case FLOAT -> code.loadConstant((float) random.nextGaussian() * 100);
            default -> code.loadConstant(random.nextGaussian() * 100);
        }
    }

    void invoke(CallMethod method) {
        code.invokeinterface(
                Type.CALL_CLASS, method.name, java.lang.constant.MethodTypeDesc.ofDescriptor(method.descriptor));
    }

    /** An offset into the arguments, the scratch memory or the result; seldom one outside. */
    void place() {
        code.loadConstant(random.nextInt(200) == 0 ? 4090 : random.nextInt(1000));
    }

    /** An address in the cache; nearly all are within the cache and within one region. */
    void address(int bytes) {
        if (!loops.isEmpty() && random.nextInt(4) != 0) {
            MethodGenerator.Loop loop = loops.get(random.nextInt(loops.size()));
            if (loop.edges() && random.nextInt(3) == 0) {
                edges(loop);
            } else if (random.nextInt(3) == 0) {
                // The address of an array's element.
                code.loadConstant(8L * random.nextInt(800)).iload(loop.counter());
                if (random.nextBoolean()) {
                    code.loadConstant(bytes).imul().i2l().ladd();
                } else {
                    code.i2l().iconst_3().lshl().ladd();
                }
            } else {
                code.lload(loop.address());
                int distance = random.nextInt(4) * bytes;
                if (distance > 0) {
                    code.loadConstant((long) distance).ladd();
                }
                if (random.nextInt(4) == 0) {
                    // The mask keeps the access within one region, and not before the first.
                    code.loadConstant(0x3ff8L).land();
                }
            }
            return;
        }
        expression(Type.LONG, 1);
        code.loadConstant(random.nextInt(300) == 0 ? 0x7fffL : 0x3ff8L).land();
    }

    /** An address by a variable that nears an edge: the first address plus the variable's advance, until it wraps. */
    private void edges(MethodGenerator.Loop loop) {
        switch (random.nextInt(3)) {
            case 0 -> code.iload(loop.odd()).i2l().loadConstant((long) loop.oddFirst());
            case 1 -> code.lload(loop.wide()).l2i().i2l().loadConstant((long) (int) loop.wideFirst());
            default -> code.lload(loop.wide()).loadConstant(loop.wideFirst());
        }
        code.lsub().loadConstant(loop.first()).ladd();
    }

    void expression(Type type, int depth) {
        if (depth == 0 || random.nextInt(4) == 0) {
            if (random.nextInt(3) == 0) {
                constant(type);
            } else if (type == Type.LONG && !loops.isEmpty() && random.nextInt(3) == 0) {
                MethodGenerator.Loop loop = loops.getLast();
                code.lload(loop.edges() && random.nextBoolean() ? loop.wide() : loop.address());
            } else {
                code.loadLocal(type.kind, any(type));
            }
            return;
        }
        switch (random.nextInt(8)) {
            case 0 -> pure(type, depth);
            case 1 -> call(type, depth);
            case 2 -> convert(type, depth);
            case 3 -> either(type, depth);
            case 4 -> load(type);
            default -> arithmetic(type, depth);
        }
    }

    private void pure(Type type, int depth) {
        PureMethod method = PURE.get(random.nextInt(PURE.size()));
        for (int i = 0; i < method.type().parameterCount(); i++) {
            Type parameter = Type.of(method.effect().charAt(i));
            expression(parameter, depth - 1);
            if (i == 1 && method.divisor() != null && random.nextInt(50) != 0) {
                notZero(parameter);
            }
        }
        code.invokestatic(method.owner(), method.name(), method.type());
        to(Type.of(method.type().returnType()), type);
    }

    private void notZero(Type type) {
        if (type == Type.INT) {
            code.iconst_1().ior();
        } else {
            code.lconst_1().lor();
        }
    }

    private void call(Type type, int depth) {
        if (own.isEmpty() || depth < 2) {
            arithmetic(type, depth);
            return;
        }
        ClassGenerator.Own method = own.get(random.nextInt(own.size()));
        code.aload(0);
        method.parameters().forEach(parameter -> expression(parameter, depth - 1));
        code.invokestatic(ClassGenerator.NAME, method.name(), method.descriptor());
        to(method.result(), type);
    }

    private void convert(Type type, int depth) {
        Type from = ClassGenerator.TYPES.get(random.nextInt(4));
        expression(from, depth - 1);
        if (from == Type.INT && type == Type.INT) {
            switch (random.nextInt(3)) {
                case 0 -> code.i2b();
                case 1 -> code.i2c();
                default -> code.i2s();
            }
        }
        to(from, type);
    }

    private void to(Type from, Type type) {
        if (from != type) {
            code.conversion(from.kind, type.kind);
        }
    }

    /** A value that each of two branches leaves on the stack. */
    private void either(Type type, int depth) {
        Label otherwise = code.newLabel();
        Label behind = code.newLabel();
        expression(Type.INT, depth - 1);
        code.iflt(otherwise);
        expression(type, depth - 1);
        code.goto_(behind).labelBinding(otherwise);
        expression(type, depth - 1);
        code.labelBinding(behind);
    }

    private void load(Type type) {
        List<CallMethod> methods = List.of(
                CallMethod.GET_BYTE,
                CallMethod.GET_SHORT,
                CallMethod.GET_INT,
                CallMethod.GET_LONG,
                CallMethod.GET_LONG,
                CallMethod.ARGUMENT,
                CallMethod.SCRATCH,
                CallMethod.SCRATCH_INT,
                CallMethod.SCRATCH_BYTE,
                CallMethod.RESULT_CAPACITY);
        CallMethod method = methods.get(random.nextInt(methods.size()));
        code.aload(0);
        switch (method.kind) {
            case GET -> address(method.bytes);
            case ARGUMENT -> code.loadConstant(random.nextInt(17));
            case SCRATCH_GET -> place();
            default -> {}
        }
        invoke(method);
        to(method.bytes == 8 ? Type.LONG : Type.INT, type);
    }

    private void arithmetic(Type type, int depth) {
        expression(type, depth - 1);
        switch (type) {
            case INT -> ints(depth);
            case LONG -> longs(depth);
            case FLOAT -> {
                expression(type, depth - 1);
                switch (random.nextInt(5)) {
                    case 0 -> code.fadd();
                    case 1 -> code.fsub();
                    case 2 -> code.fmul();
                    case 3 -> code.fdiv();
                    default -> code.frem();
                }
            }
            default -> {
                expression(type, depth - 1);
                switch (random.nextInt(6)) {
                    case 0 -> code.dadd();
                    case 1 -> code.dsub();
                    case 2 -> code.dmul();
                    case 3 -> code.ddiv();
                    case 4 -> code.dneg().dadd();
                    default -> code.drem();
                }
            }
        }
    }

    private void ints(int depth) {
        expression(Type.INT, depth - 1);
        switch (random.nextInt(11)) {
            case 0, 1 -> code.iadd();
            case 2 -> code.isub();
            case 3 -> code.imul();
            case 4 -> code.iand();
            case 5 -> code.ixor();
            case 6 -> code.ishl();
            case 7 -> code.iushr();
            case 8 -> code.iconst_1().ior().idiv();
            case 9 -> code.iconst_1().ior().irem();
            default -> code.ineg().swap().ior();
        }
    }

    private void longs(int depth) {
        switch (random.nextInt(11)) {
            case 0 -> {
                expression(Type.INT, depth - 1);
                code.lshl();
                return;
            }
            case 1 -> {
                expression(Type.INT, depth - 1);
                code.lshr();
                return;
            }
            case 2 -> {
                expression(Type.LONG, depth - 1);
                code.lcmp().i2l();
                return;
            }
            default -> expression(Type.LONG, depth - 1);
        }
        switch (random.nextInt(8)) {
            case 0, 1 -> code.ladd();
            case 2 -> code.lsub();
            case 3 -> code.lmul();
            case 4 -> code.land();
            case 5 -> code.lconst_1().lor().ldiv();
            case 6 -> code.lconst_1().lor().lrem();
            default -> code.lneg().lxor();
        }
    }
}
