package io.farheap.procedure.translate.instruction;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random classes of the subset that end: a few own methods, and {@code run}, with nested loops, branches, switches,
 * arithmetic of all types, methods of the JDK, and all that a call can do. Bytecode, not source: a thousand classes
 * take seconds.
 */
public final class ClassGenerator {

    /** An own method that later ones may call. */
    record Own(String name, List<Type> parameters, Type result) {

        MethodTypeDesc descriptor() {
            List<ClassDesc> types = new ArrayList<>();
            types.add(Type.CALL_CLASS);
            parameters.forEach(parameter -> types.add(desc(parameter)));
            return MethodTypeDesc.of(desc(result), types);
        }
    }

    static final ClassDesc NAME = ClassDesc.of("io.farheap.procedure.translate.Generated");
    static final List<Type> TYPES = List.of(Type.INT, Type.LONG, Type.FLOAT, Type.DOUBLE);

    private final Random random;

    public ClassGenerator(Random random) {
        this.random = random;
    }

    static ClassDesc desc(Type type) {
        return type.kind.upperBound();
    }

    public byte[] generate() {
        List<Own> methods = new ArrayList<>();
        return ClassFile.of().build(NAME, type -> {
            type.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
            for (int i = random.nextInt(3); i > 0; i--) {
                List<Type> parameters = new ArrayList<>();
                for (int n = random.nextInt(4); n > 0; n--) {
                    parameters.add(TYPES.get(random.nextInt(4)));
                }
                Own own = new Own("own" + i, parameters, TYPES.get(random.nextInt(4)));
                List<Own> earlier = List.copyOf(methods);
                type.withMethodBody(own.name(), own.descriptor(), ClassFile.ACC_STATIC, code -> new MethodGenerator(
                                random, code, earlier, own.parameters())
                        .body(own.result(), 2));
                methods.add(own);
            }
            type.withMethodBody(
                    "run",
                    MethodTypeDesc.of(ConstantDescs.CD_int, Type.CALL_CLASS),
                    ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                    code -> new MethodGenerator(random, code, methods, List.of())
                            .body(Type.INT, 2 + random.nextInt(5)));
        });
    }
}
