package io.farheap.coding;

/** Square and other matrices over {@link GaloisField}, as rows of elements from 0 to 255. */
final class Matrices {

    private Matrices() {}

    /**
     * A Cauchy matrix, of which every square submatrix can be inverted, scaled so that its first row and its first
     * column are ones. Scaling rows and columns keeps that property.
     *
     * @param rows, and columns: at most 256 together
     */
    static int[][] cauchy(int rows, int columns) {
        int[][] matrix = new int[rows][columns];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                matrix[row][column] = GaloisField.inverse((columns + row) ^ column);
            }
        }
        for (int column = 0; column < columns && rows > 0; column++) {
            int scale = GaloisField.inverse(matrix[0][column]);
            for (int row = 0; row < rows; row++) {
                matrix[row][column] = GaloisField.multiply(matrix[row][column], scale);
            }
        }
        for (int[] row : matrix) {
            int scale = GaloisField.inverse(row[0]);
            for (int column = 0; column < columns; column++) {
                row[column] = GaloisField.multiply(row[column], scale);
            }
        }
        return matrix;
    }

    /** The product of two matrices. */
    static int[][] multiply(int[][] left, int[][] right) {
        int[][] product = new int[left.length][right[0].length];
        for (int row = 0; row < left.length; row++) {
            for (int column = 0; column < right[0].length; column++) {
                int sum = 0;
                for (int i = 0; i < right.length; i++) {
                    sum ^= GaloisField.multiply(left[row][i], right[i][column]);
                }
                product[row][column] = sum;
            }
        }
        return product;
    }

    /**
     * The inverse of a square matrix, which is not changed.
     *
     * @throws ArithmeticException if there is none
     */
    static int[][] inverse(int[][] matrix) {
        int size = matrix.length;
        int[][] left = new int[size][];
        int[][] right = new int[size][size];
        for (int i = 0; i < size; i++) {
            left[i] = matrix[i].clone();
            right[i][i] = 1;
        }
        for (int column = 0; column < size; column++) {
            int pivot = column;
            while (pivot < size && left[pivot][column] == 0) {
                pivot++;
            }
            if (pivot == size) {
                throw new ArithmeticException("the matrix has no inverse");
            }
            swap(left, pivot, column);
            swap(right, pivot, column);
            int scale = GaloisField.inverse(left[column][column]);
            scale(left[column], scale);
            scale(right[column], scale);
            for (int row = 0; row < size; row++) {
                int times = left[row][column];
                if (row != column && times != 0) {
                    add(left[row], left[column], times);
                    add(right[row], right[column], times);
                }
            }
        }
        return right;
    }

    private static void swap(int[][] matrix, int one, int other) {
        int[] row = matrix[one];
        matrix[one] = matrix[other];
        matrix[other] = row;
    }

    private static void scale(int[] row, int scale) {
        for (int i = 0; i < row.length; i++) {
            row[i] = GaloisField.multiply(row[i], scale);
        }
    }

    private static void add(int[] row, int[] other, int times) {
        for (int i = 0; i < row.length; i++) {
            row[i] ^= GaloisField.multiply(other[i], times);
        }
    }
}
