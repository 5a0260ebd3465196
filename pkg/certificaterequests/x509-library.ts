import 'reflect-metadata'; // first: the container that the library keeps its algorithms in asks for it when it is loaded

export * from '@peculiar/x509';
